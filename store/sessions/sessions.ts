import { basename, join, relative } from 'node:path';
import { isDiskFault, isFailingDisk, orElse } from '../base/attempt.ts';
import { lockOn } from '../base/locks.ts';
import { sessionDirName, shortId } from '../base/names.ts';
import { listDirectory, namesIn } from '../front-matter/folder.ts';
import type { FrontMatter } from '../front-matter/front-matter.ts';
import { Problem, toProblem } from '../front-matter/problem.ts';
import { readRecord, unreadable, withReadableErrors } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { removeDirectory } from '../fs/directories.ts';
import { createDirectory } from '../fs/durable.ts';
import { isDirectoryItself, statsAt } from '../fs/plain-path.ts';
import { isGateShut } from '../held/held.ts';
import { gateOf } from '../held/held-file.ts';
import { runStateOf } from '../journal/milestones.ts';
import { sessionFile, sessionsDir } from '../layout.ts';
import { pathOfItem } from '../reconcile/items.ts';
import { byAge, isEnded, type Session, type SessionMatter } from '../records/session.ts';
import { readyToWrite, type Store } from '../store.ts';
import { editSession, type Summary, summaryEdit } from './edited-summary.ts';
import { heldMatter, intendMatter, noteMatter } from './held-sessions.ts';
import { isInJournal, type SessionRecord, serveSession } from './served-session.ts';
import { checkSessionIn } from './session-file.ts';

/** A session as the API returns it, with its record and directory. */
export interface StoredSession extends SessionRecord {
  session: Session;
}

/** The session's directory now; its Work item may have been moved by hand since the session was read. */
export const sessionDirOf = (store: Store, { session, dir }: StoredSession): string => {
  const folder = folderOf(store, session.case_id);
  return folder === undefined ? dir : join(folder, basename(dir));
};

/** Undefined if there is no such session. Throws `unreadable_record`. */
export const readSession = (
  store: Store,
  caseId: string,
  id: string,
): StoredSession | undefined => {
  const found = readRecordOf(store, caseId, id);
  return found && storedSession(store, caseId, found);
};

/** The status of a session, from its record alone. */
export const sessionStatus = (
  store: Store,
  caseId: string,
  id: string,
): Session['status'] | undefined => readRecordOf(store, caseId, id)?.matter.status;

/** Whether a session has a record, readable or not, where its Work item was read last. */
export const hasRecord = (store: Store, caseId: string, id: string): boolean => {
  const folder = folderOf(store, caseId);
  if (folder === undefined) return false;
  const isIts = (name: string): boolean =>
    name.endsWith(shortId(id)) && statsAt(sessionFile(join(folder, name))) !== undefined;
  return orElse(() => namesIn(folder).some(isIts), true);
};

/** The directories that may be a session's by their names, whatever is in them; none where they cannot be listed. */
export const namedDirectoriesOf = (store: Store, caseId: string, id: string): string[] => {
  const folder = folderOf(store, caseId);
  if (folder === undefined) return [];
  return orElse(() => namesIn(folder), [])
    .filter((name) => name.endsWith(shortId(id)))
    .map((name) => join(folder, name));
};

const readRecordOf = (store: Store, caseId: string, id: string): SessionRecord | undefined => {
  const found = findSessionDir(store, caseId, id);
  const matter = found && (found.matter ?? readMatterAt(store, caseId, found.dir));
  return matter && { dir: found.dir, matter };
};

/**
 * The readable sessions of a Work item, oldest first; undefined if there is no such Work item. Throws a disk fault that hides
 * an open one.
 */
export const sessionsOf = (store: Store, caseId: string): StoredSession[] | undefined =>
  readSessions(store, caseId, isInJournal);

/** The same for a rule to which each session counts: throws any disk fault. */
export const allSessionsOf = (store: Store, caseId: string): StoredSession[] | undefined =>
  readSessions(store, caseId, () => true);

const readSessions = (store: Store, caseId: string, isNeeded: typeof isInJournal) => {
  const folder = folderOf(store, caseId);
  if (folder === undefined) return undefined;
  return listDirectory(folder)
    .flatMap((name) => readIfFound(store, caseId, join(folder, name), isNeeded) ?? [])
    .toSorted((a, b) => byAge(a.session, b.session));
};

/** The same, but none if a disk fault hides an open one: for callers that can do without. */
export const sessionsOrNone = (store: Store, caseId: string): StoredSession[] =>
  orElse(() => sessionsOf(store, caseId), undefined) ?? [];

/** The newest readable session of a Work item. Reads no older ones. Throws a disk fault that hides an open one. */
export const newestSession = (store: Store, caseId: string): StoredSession | undefined => {
  const folder = folderOf(store, caseId);
  if (folder === undefined) return undefined;
  // Names begin with the time of creation.
  for (const name of listDirectory(folder).toSorted().reverse()) {
    const kept = readIfFound(store, caseId, join(folder, name), isInJournal);
    if (kept !== undefined) return kept;
  }
  return undefined;
};

// One that cannot be read is left out, unless the disk hides an open one; its problem is reported elsewhere. A limit of the
// machine says nothing about the file.
const readIfFound = (store: Store, caseId: string, dir: string, isNeeded: typeof isInJournal) => {
  try {
    return readSessionAt(store, caseId, dir);
  } catch (error) {
    if (isDiskFault(error) && (!isFailingDisk(error) || isNeeded(store, dir))) throw error;
    return undefined;
  }
};

/** Creates the directory of a new session. */
export const insertSession = (
  store: Store,
  caseId: string,
  matter: SessionMatter,
): Promise<StoredSession | undefined> =>
  store.locks.take(lockOn.item(caseId), async () => {
    const folder = folderOf(store, caseId);
    if (folder === undefined) return undefined;
    await readyToWrite(store);
    const dir = join(folder, sessionDirName(matter.created_at, matter.id));
    const text = renderFrontMatter({ ...matter }, '');
    const kept = await orRemoved(store, dir, async () => {
      await createDirectory(store.layout, dir, { 'session.md': text });
      const made = readSessionAt(store, caseId, dir);
      const run = made && { id: matter.id, state: runStateOf(made.session, store.clock()) };
      if (run !== undefined) await store.journal.append({ run });
      return made;
    });
    if (isGateShut(gateOf(store))) noteMatter(store, caseId, matter);
    return kept;
  });

// A session that is not in the journal would never run and would block the queue, so its directory is removed on an error.
const orRemoved = <T>(store: Store, dir: string, make: () => Promise<T>): Promise<T> =>
  make().catch(async (error: unknown) => {
    if (isDirectoryItself(dir)) await removeDirectory(store.layout, dir);
    throw error;
  });

/** Makes this machine the owner of a session, and journals its state without events. */
export const claimSession = async (store: Store, { session }: StoredSession): Promise<void> => {
  const { machine, journal } = store;
  // While an unsandboxed program runs, a session that appears on disk may be forged.
  if (isGateShut(gateOf(store)) && !journal.fresh) return;
  await updateSession(store, session.case_id, session.id, ({ elsewhere }) =>
    elsewhere === true ? { machine } : undefined,
  );
  await journal.append({ run: { id: session.id, state: runStateOf(session, store.clock()) } });
};

export interface SessionChange extends Partial<Omit<SessionMatter, 'id' | 'created_at'>> {
  /** The body of session.md, a summary for people. */
  summary?: Summary;
}

/** Computes the change of a session; undefined for none. It may throw to refuse. */
export type SessionRule = (current: Session, matter: SessionMatter) => SessionChange | undefined;

/**
 * Applies a rule to a session under the lock of its Work item. A body of session.md that the operator wrote is kept before a
 * summary replaces it. `journalSession` journals the events of the change.
 */
export const updateSession = (
  store: Store,
  caseId: string,
  id: string,
  rule: SessionRule,
): Promise<StoredSession | undefined> =>
  store.locks.take(lockOn.item(caseId), async () => {
    const dir = findSessionDir(store, caseId, id)?.dir;
    if (dir === undefined) return undefined;
    await readyToWrite(store);
    let [matter, isChanged]: [SessionMatter?, boolean?] = [];
    const isThere = await editSession(store, dir, (source) => {
      matter = checkedMatter(store, caseId, dir, source);
      const change = rule(serveSession(store, caseId, { dir, matter }), matter);
      isChanged = change !== undefined;
      if (change === undefined) return undefined;
      const { summary, ...others } = change;
      const edit = summary && summaryEdit(summary, matter, source);
      const changes = { ...others, ...edit?.changes };
      matter = { ...matter, ...changes };
      intendMatter(store, matter);
      return { ...edit, changes };
    });
    if (!isThere || matter === undefined) return undefined;
    if (isChanged === true) noteMatter(store, caseId, matter);
    return storedSession(store, caseId, { dir, matter });
  });

/** Whether the journal lags behind the session's record: a follow-up step is not done yet. */
export const isBehindJournal = (
  { journal }: Store,
  { id, status }: Pick<Session, 'id' | 'status'>,
): boolean => {
  const told = journal.runs.get(id)?.status;
  return told === undefined ? !isEnded(status) : told !== status;
};

/** Whether the record says that a session is queued although the journal has its start. */
export const isRequeued = (
  { journal }: Store,
  { id, status }: Pick<Session, 'id' | 'status'>,
): boolean => status === 'queued' && (journal.runs.get(id)?.status ?? 'queued') !== 'queued';

/** The session while the journal lags behind it; undefined once nothing is left to do. */
export const unfinishedSession = (
  store: Store,
  caseId: string,
  id: string,
): StoredSession | undefined => {
  const found = readRecordOf(store, caseId, id);
  return found && isBehindJournal(store, found.matter)
    ? storedSession(store, caseId, found)
    : undefined;
};

const folderOf = (store: Store, caseId: string): string | undefined =>
  pathOfItem(store, caseId, sessionsDir);

// The directory's name ends with the short id; the full id is in the record, which is read once.
const findSessionDir = (
  store: Store,
  caseId: string,
  id: string,
): { dir: string; matter?: SessionMatter } | undefined => {
  const folder = folderOf(store, caseId);
  if (folder === undefined) return undefined;
  let unreadableDir: string | undefined;
  for (const name of namesOf(store, folder).filter((each) => each.endsWith(shortId(id)))) {
    const dir = join(folder, name);
    const matter = orElse(() => readMatterAt(store, caseId, dir), undefined);
    if (matter?.id === id) return { dir, matter };
    if (matter === undefined && statsAt(sessionFile(dir)) !== undefined) unreadableDir = dir;
  }
  // An unreadable record is returned without its matter, so that the caller reports it.
  return unreadableDir === undefined ? undefined : { dir: unreadableDir };
};

// Not an empty list where the folder cannot be read: the session may be there.
const namesOf = ({ layout }: Store, folder: string): string[] => {
  try {
    return namesIn(folder);
  } catch (error) {
    throw unreadable(relative(layout.root, folder), toProblem(error));
  }
};

/** The session of a directory; undefined if it has no record. Throws `unreadable_record`. */
export const readSessionAt = (
  store: Store,
  case_id: string,
  dir: string,
): StoredSession | undefined => {
  const matter = readMatterAt(store, case_id, dir);
  return matter && storedSession(store, case_id, { dir, matter });
};

const storedSession = (store: Store, case_id: string, record: SessionRecord): StoredSession => ({
  ...record,
  session: serveSession(store, case_id, record),
});

const readMatterAt = (store: Store, caseId: string, dir: string): SessionMatter | undefined => {
  const check = checkOwn(store, caseId, dir);
  const found = readRecord(store.layout.root, sessionFile(dir), check)?.matter;
  return found && heldMatter(store, dir, found);
};

const checkedMatter = (
  store: Store,
  caseId: string,
  dir: string,
  source: FrontMatter,
): SessionMatter => {
  const file = relative(store.layout.root, sessionFile(dir));
  const check = checkOwn(store, caseId, dir);
  return heldMatter(
    store,
    dir,
    withReadableErrors(file, () => check(source.data, source)),
  );
};

const checkOwn =
  (store: Store, caseId: string, dir: string) =>
  (data: unknown, source: FrontMatter): SessionMatter => {
    const matter = checkSessionIn(basename(dir))(data, source);
    const problem = copyProblem(store, caseId, matter.id);
    if (problem !== undefined) throw problem;
    return matter;
  };

/**
 * The problem of a session that is a copy of an open one in another Work item, as of a directory that was copied by hand. The
 * decisions, the run and the stream of its id are those of the original. Undefined for all others.
 */
export const copyProblem = (store: Store, caseId: string, id: string): Problem | undefined => {
  const owner = store.journal.runs.get(id)?.case_id;
  if (owner === undefined || owner === caseId || !hasRecord(store, owner, id)) return undefined;
  return new Problem(
    'duplicate_id',
    `This is a copy of session ${id} of Work item ${owner}. Remove the directory of the copy`,
  );
};
