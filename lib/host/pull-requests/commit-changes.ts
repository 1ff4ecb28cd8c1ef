import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { readDiff } from '../../../store/sessions/session-texts.ts';
import { type StoredSession, sessionDirOf, sessionsOf } from '../../../store/sessions/sessions.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { syncCommits } from '../../code/worktrees/recovery/sync-work.ts';
import { ServiceError } from '../../errors.ts';
import type { WorktreeStatus } from '../../tools/git/read/status.ts';
import {
  type ChangesCommit,
  commitWorkingFiles,
  isCommittable,
} from '../../tools/git/write/commit-files.ts';
import { asOneLine } from '../../work/cases/text.ts';
import { diffOf } from '../../work/sessions/turns/wrap-up.ts';

/** What to do with uncommitted changes; by default only those of a completed session are committed. */
type WithChanges = 'commit' | 'leave';

export const NOTHING: ChangesCommit = { committed: null, left_out: [] };

interface Wanted {
  status: WorktreeStatus;
  changes: WithChanges | undefined;
  /** The subject of the commit, from an untrusted source. */
  title: string;
}

/**
 * Commits what a completed session left uncommitted (`worktrees.commit: never`), in the operator's name, without files that
 * look like secrets and the like, which a session never commits either. Other changes throw 409 `uncommitted_changes` unless
 * `changes` says what to do.
 */
export const commitChanges = async (
  service: GitNeeds,
  worktree: WorktreeRecord,
  { status, changes, title }: Wanted,
): Promise<ChangesCommit> => {
  const files = status.files.filter(isCommittable).map(({ path }) => path);
  if (files.length === 0 || changes === 'leave') return NOTHING;
  const session = await sessionBehind(service, worktree);
  if (session === undefined && changes !== 'commit') throw notOfSession(worktree, files);
  const { case_id } = worktree;
  const lines = [`Work item: ${case_id}`, ...(session === undefined ? [] : [ofSession(session)])];
  const message = `${subjectOf(title)}\n\n${lines.join('\n')}`;
  const committed = await commitWorkingFiles(service.git, worktree, {
    message,
    isAll: changes === 'commit',
  });
  await syncCommits(service, worktree);
  return committed;
};

const MOST_CHARACTERS = 300;

// The title may come from the host: further lines would become the message, and git refuses NUL.
const subjectOf = (title: string): string =>
  [...asOneLine(title)].slice(0, MOST_CHARACTERS).join('');

const ofSession = ({ session: { id, plan_sha256 } }: StoredSession): string =>
  `Session: ${id}\nApproved plan: ${plan_sha256 ?? 'unknown'}`;

/** The newest completed session, if the worktree has exactly its changes. */
const sessionBehind = async (
  service: GitNeeds,
  { case_id }: WorktreeRecord,
): Promise<StoredSession | undefined> => {
  const { store } = service;
  const newest = (sessionsOf(store, case_id) ?? []).findLast(
    ({ session: { status, mode } }) => status === 'completed' && mode === 'work',
  );
  const left = newest && readDiff(store, sessionDirOf(store, newest));
  if (newest === undefined || left === undefined) return undefined;
  return left.equals((await diffOf(service, newest)).patch) ? newest : undefined;
};

const notOfSession = ({ path }: WorktreeRecord, files: readonly string[]): ServiceError =>
  new ServiceError(
    'uncommitted_changes',
    `${files.slice(0, 5).join(', ')} ${files.length === 1 ? 'is' : 'are'} changed but not committed, and differ from the result of the last completed session. Check them in ${path}, then send {"changes": "commit"} to commit all of them, or {"changes": "leave"} to leave them uncommitted.`,
    { members: { files: files.slice(0, 100) } },
  );
