import { basename, join } from 'node:path';
import { lockOn } from '../../base/locks.ts';
import { createDirectory, removeDirectory } from '../disk/durable.ts';
import { StoreError } from '../errors.ts';
import { isGateShut } from '../gate/gate.ts';
import { milestoneEvents, runStateOf } from '../journal/milestones.ts';
import { sessionFile, sessionsDir } from '../layout.ts';
import { sessionDirName, shortId } from '../names.ts';
import { byAge, isEnded, type Session, SessionMatter } from '../records/session.ts';
import { readyToWrite, type Store } from '../store.ts';
import { listDirectory } from '../text/folder.ts';
import { textOfBody } from '../text/front-matter.ts';
import { checkerOf } from '../text/parse.ts';
import { Problem } from '../text/problem.ts';
import { editRecord, readable, readRegularFile, unreadable } from '../text/record-file.ts';
import { renderFrontMatter } from '../text/splice.ts';
import { sessionKey } from '../waiting/kept.ts';
import { heldMatter, intendMatter, noteMatter } from '../waiting/session-gate.ts';
import { planSeen } from './approved.ts';

/** A session with what only the daemon needs, and its directory. */
export interface StoredSession {
  dir: string;
  matter: SessionMatter;
  session: Session;
}

/** The session's directory this moment: its Work item may have been moved by hand since it was read. */
export const whereIs = (store: Store, { session, dir }: StoredSession): string => {
  const folder = folderOf(store, session.case_id);
  return folder === undefined ? dir : join(folder, basename(dir));
};

/** Undefined when there is no such session. Throws `unreadable_record` when its file cannot be read. */
export const readSession = (
  store: Store,
  caseId: string,
  id: string,
): StoredSession | undefined => {
  const found = findIn(store, caseId, id);
  if (found === undefined) return undefined;
  const { dir, matter } = found;
  if (matter === undefined) return readIn(store, caseId, dir);
  return { dir, matter, session: sessionOf(store, caseId, { dir, matter }) };
};

/** The summary for people: the body of session.md. Empty where it has none, or cannot be read any more. */
export const sessionSummary = (store: Store, kept: StoredSession): string => {
  try {
    const path = sessionFile(whereIs(store, kept));
    const bytes = readRegularFile(store.layout.root, path);
    return bytes === undefined ? '' : textOfBody(readable(store.layout.root, path, bytes));
  } catch (error) {
    if (error instanceof StoreError) return '';
    throw error;
  }
};

/** The sessions of a Work item that can be read, oldest first. Undefined when there is no such Work item. */
export const sessionsOf = (store: Store, caseId: string): StoredSession[] | undefined => {
  const folder = folderOf(store, caseId);
  if (folder === undefined) return undefined;
  return listDirectory(folder)
    .flatMap((name) => orSkip(() => readIn(store, caseId, join(folder, name))) ?? [])
    .toSorted((a, b) => byAge(a.session, b.session));
};

/** Makes the directory of a new session. */
export const insertSession = (
  store: Store,
  caseId: string,
  matter: SessionMatter,
): Promise<StoredSession | undefined> =>
  store.turns.take(lockOn.item(caseId), async () => {
    const folder = folderOf(store, caseId);
    if (folder === undefined) return undefined;
    await readyToWrite(store);
    const dir = join(folder, sessionDirName(matter.created_at, matter.id));
    await createDirectory(store.layout, dir, {
      'session.md': renderFrontMatter({ ...matter }, ''),
    });
    const kept = readIn(store, caseId, dir);
    if (kept !== undefined) await noteNew(store, kept);
    if (isGateShut(store.gate)) noteMatter(store, caseId, matter);
    return kept;
  });

// One that this machine does not know as its own would wait for ever, and keep the others waiting.
const noteNew = async (store: Store, { session, dir }: StoredSession): Promise<void> => {
  const run = { id: session.id, state: runStateOf(session, store.clock()) };
  await store.journal.append({ run }).catch(async (error: unknown) => {
    await removeDirectory(store.layout, dir);
    throw error;
  });
};

/** Makes a session this machine's own, and remembers how it is: as silently as a start that finds no journal. */
export const claimSession = async (store: Store, { session }: StoredSession): Promise<void> => {
  const { machine, journal, gate } = store;
  // A lock and a session that were made by file are nobody's while somebody may have made them who is not the operator.
  if (isGateShut(gate) && !journal.fresh) return;
  await updateSession(store, session.case_id, session.id, ({ elsewhere }) =>
    elsewhere === true ? { machine } : undefined,
  );
  await journal.append({ run: { id: session.id, state: runStateOf(session, store.clock()) } });
};

export interface SessionChange extends Partial<Omit<SessionMatter, 'id' | 'created_at'>> {
  /** The summary for people: the body of session.md. */
  summary?: string;
}

/** A rule: from the session as it is on disk to what is to change; undefined for nothing. It may throw to refuse. */
export type SessionRule = (current: Session, matter: SessionMatter) => SessionChange | undefined;

/**
 * Runs a rule on a session in the Work item's turn and writes what it wants. Of two that want the same, the second sees
 * what the first wrote. What follows from it is told by tellSession.
 */
export const updateSession = (
  store: Store,
  caseId: string,
  id: string,
  rule: SessionRule,
): Promise<StoredSession | undefined> =>
  store.turns.take(lockOn.item(caseId), async () => {
    const dir = findIn(store, caseId, id)?.dir;
    if (dir === undefined) return undefined;
    await readyToWrite(store);
    let holds: SessionMatter | undefined;
    await editRecord(store.layout, sessionFile(dir), () => {
      const kept = readIn(store, caseId, dir);
      const change = kept === undefined ? undefined : rule(kept.session, kept.matter);
      if (kept === undefined || change === undefined) return undefined;
      const { summary, ...changes } = change;
      holds = { ...kept.matter, ...changes };
      intendMatter(store, holds);
      return summary === undefined ? { changes } : { changes, body: `\n${summary}\n` };
    });
    if (holds !== undefined) noteMatter(store, caseId, holds);
    return readIn(store, caseId, dir);
  });

/**
 * Tells the events of the way a session went since the journal last heard of it. Called last, when all that follows
 * from the record is done: a session the journal is behind on has something left to do after a crash.
 */
export const tellSession = (store: Store, session: Session): Promise<void> =>
  store.turns.take(lockOn.item(session.case_id), async () => {
    const before = store.journal.runs.get(session.id)?.status;
    if (before === session.status) return;
    const at = store.clock();
    const events = milestoneEvents(before, session, at);
    await store.journal.append({ run: { id: session.id, state: runStateOf(session, at) }, events });
  });

/** True while something that follows from the session's record is not done yet. */
export const isUntold = ({ journal }: Store, { id, status }: Session): boolean => {
  const told = journal.runs.get(id)?.status;
  return told === undefined ? !isEnded(status) : told !== status;
};

/** The journal's memory of a session whose record is gone. */
export const forgetRun = async (store: Store, id: string): Promise<void> => {
  await store.journal.append({ run: { id, state: null } });
};

// Forged while the journal knows of no such session: nobody goes on with it.
const isUnknown = ({ gate, journal }: Store, dir: string): boolean =>
  isGateShut(gate) &&
  !gate.sessions.has(sessionKey(dir)) &&
  ![...journal.runs.keys()].some((id) => shortId(id) === sessionKey(dir));

const folderOf = ({ layout, items }: Store, caseId: string): string | undefined => {
  const item = items.byId.get(caseId);
  return item === undefined ? undefined : sessionsDir(join(layout.root, item.dir));
};

// The directory's name ends with the start of the id; the record inside has the whole of it, and is read once.
const findIn = (
  store: Store,
  caseId: string,
  id: string,
): (Partial<StoredSession> & { dir: string }) | undefined => {
  const folder = folderOf(store, caseId);
  if (folder === undefined) return undefined;
  for (const name of listDirectory(folder).filter((each) => each.endsWith(shortId(id)))) {
    const dir = join(folder, name);
    const matter = orSkip(() => matterIn(store, dir));
    if (matter?.id === id) return { dir, matter };
    // One that cannot be read is told as such.
    if (bytesOf(store, dir)?.includes(id)) return { dir };
  }
  return undefined;
};

const bytesOf = ({ layout }: Store, dir: string): Buffer | undefined =>
  readRegularFile(layout.root, sessionFile(dir));

const orSkip = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

const check = checkerOf(SessionMatter);

const readIn = (store: Store, case_id: string, dir: string): StoredSession | undefined => {
  const matter = matterIn(store, dir);
  return matter && { dir, matter, session: sessionOf(store, case_id, { dir, matter }) };
};

const matterIn = (store: Store, dir: string): SessionMatter | undefined => {
  const { root } = store.layout;
  const bytes = bytesOf(store, dir);
  if (bytes === undefined) return undefined;
  const source = readable(root, sessionFile(dir), bytes);
  try {
    return heldMatter(store, dir, check(source.data, source));
  } catch (error) {
    if (error instanceof Problem) throw unreadable(sessionFile(dir).slice(root.length + 1), error);
    throw error;
  }
};

const whyPaused = ({
  status,
  pause_reason,
  resume_at,
}: SessionMatter): Pick<Session, 'pause_reason' | 'resume_at'> => ({
  ...(status === 'paused' && pause_reason && { pause_reason }),
  ...(status === 'paused' && resume_at && { resume_at }),
});

const sessionOf = (
  store: Store,
  case_id: string,
  { dir, matter }: Pick<StoredSession, 'dir' | 'matter'>,
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
  const isOthers = (matter.machine ?? machine) !== machine || isUnknown(store, dir);
  return {
    id,
    case_id,
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
    approved_sha256,
    created_at,
    started_at,
    ended_at,
    usage,
    error,
    ...whyPaused(matter),
    ...planSeen(store, dir, matter),
    ...(!isEnded(status) && isOthers && { elsewhere: true }),
  };
};
