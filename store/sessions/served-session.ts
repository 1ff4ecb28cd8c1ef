import { relative } from 'node:path';
import { shortId } from '../base/names.ts';
import { visible, visibleWithin } from '../base/visible.ts';
import { isGateShut } from '../held/held.ts';
import { gateOf } from '../held/held-file.ts';
import { type Commands, type CommandsMatter, failureSentence } from '../records/commands.ts';
import { isEnded, type Session, type SessionMatter } from '../records/session.ts';
import { commitSentence, type SessionCommit, type WorkCommit } from '../records/work-commit.ts';
import type { Store } from '../store.ts';
import { unconfirmedIn } from './consent.ts';
import { sessionKey } from './held-sessions.ts';
import { planFieldsOf } from './plan-versions.ts';

/** The record of session.md in force, and the session's directory. */
export interface SessionRecord {
  dir: string;
  matter: SessionMatter;
}

/** The session that the API returns: its record, and the state of its plan files now. */
export const serveSession = (
  store: Store,
  case_id: string,
  { dir, matter }: SessionRecord,
): Session => {
  const { machine } = store;
  const {
    branch = null,
    base_commit = null,
    started_at = null,
    ended_at = null,
    usage = null,
    error = null,
  } = matter;
  const { id, type, mode, status, provider, model, effort, created_at } = matter;
  const { approved_at = null, approved_by = null, approved_sha256 = null } = matter;
  const isOthers = (matter.machine ?? machine) !== machine || isUnknownWhileHeld(store, dir);
  const isElsewhere = !isEnded(status) && isOthers;
  const unconfirmed = isElsewhere ? undefined : unconfirmedIn(store, { case_id, matter });
  return {
    id,
    case_id,
    path: relative(store.layout.root, dir),
    type,
    mode,
    status,
    provider,
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
    branch,
    base_commit,
    plan_sha256: matter.plan_sha256 ?? null,
    approved_at,
    approved_by,
    ...(matter.approved_name != null && { approved_name: matter.approved_name }),
    approved_sha256,
    created_at,
    started_at,
    ended_at,
    usage,
    error,
    ...resultFields(matter),
    ...pauseFields(matter),
    ...planFieldsOf(store, dir, matter),
    ...(unconfirmed !== undefined && { unconfirmed }),
    ...(isElsewhere && { elsewhere: true }),
  };
};

const resultFields = ({
  commands,
  commit,
  dismissed_at,
  mode,
  unasked,
  attached,
}: SessionMatter): Pick<
  Session,
  'commands' | 'commit' | 'dismissed_at' | 'unasked' | 'attached'
> => ({
  ...(mode === 'work' && unasked?.length && { unasked: unasked.map((line) => visible(line)) }),
  ...(commands && { commands: servedCommands(commands) }),
  ...(commit && { commit: servedCommit(commit) }),
  ...(dismissed_at && { dismissed_at }),
  ...(attached?.length && { attached }),
});

const servedCommit = (kept: WorkCommit): SessionCommit => {
  const commit = visibleWithin(kept, visible) as WorkCommit;
  return { ...commit, message: commitSentence(commit) };
};

// session.md can be written by hand, so invisible characters are made visible.
const servedCommands = (kept: CommandsMatter): Commands => {
  const commands = visibleWithin(kept, visible) as CommandsMatter;
  return { ...commands, message: failureSentence(commands) };
};

// A session that appeared while an unsandboxed program ran, and that is not in the journal, is not continued.
const isUnknownWhileHeld = (store: Store, dir: string): boolean =>
  isGateShut(gateOf(store)) &&
  !gateOf(store).sessions.has(sessionKey(dir)) &&
  !isInJournal(store, dir);

/** Whether a directory is that of a session that the journal has as open. */
export const isInJournal = ({ journal }: Store, dir: string): boolean =>
  [...journal.runs.keys()].some((id) => shortId(id) === sessionKey(dir));

const pauseFields = ({
  status,
  pause_reason,
  resume_at,
}: SessionMatter): Pick<Session, 'pause_reason' | 'resume_at'> => ({
  ...(status === 'paused' && pause_reason && { pause_reason }),
  ...(status === 'paused' && resume_at && { resume_at }),
});
