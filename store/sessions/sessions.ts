import { basename, join, relative } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { lockOn } from '../base/locks.ts';
import { sessionDirName, shortId } from '../base/names.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { type FrontMatter, textOfBody } from '../front-matter/front-matter.ts';
import { checkerOf } from '../front-matter/parse.ts';
import { ifReadable } from '../front-matter/problem.ts';
import {
  editRecord,
  explained,
  readable,
  readRecord,
  readRegularFile,
} from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { removeDirectory } from '../fs/directories.ts';
import { createDirectory } from '../fs/durable.ts';
import { isDirectoryItself } from '../fs/plain-path.ts';
import { isGateShut } from '../held/held.ts';
import { gateOf } from '../held/held-file.ts';
import { runStateOf } from '../journal/milestones.ts';
import { sessionFile, sessionsDir } from '../layout.ts';
import { pathOfItem } from '../reconcile/items.ts';
import { byAge, isEnded, type Session, SessionMatter } from '../records/session.ts';
import { readyToWrite, type Store } from '../store.ts';
import { heldMatter, intendMatter, noteMatter } from './held-session.ts';
import { type SessionRecord, sessionOf } from './session-of.ts';

/** A session with what only the daemon needs, and its directory. */
export interface StoredSession extends SessionRecord {
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
  const found = recordIn(store, caseId, id);
  return found && keptOf(store, caseId, found);
};

/** The same of its record alone. */
export const sessionStatus = (
  store: Store,
  caseId: string,
  id: string,
): Session['status'] | undefined => recordIn(store, caseId, id)?.matter.status;

const recordIn = (store: Store, caseId: string, id: string): SessionRecord | undefined => {
  const found = findIn(store, caseId, id);
  const matter = found && (found.matter ?? matterIn(store, found.dir));
  return matter && { dir: found.dir, matter };
};

/** The summary for people: the body of session.md. Empty where it has none, or cannot be read any more. */
export const sessionSummary = (store: Store, kept: StoredSession): string => {
  const { root } = store.layout;
  const path = sessionFile(whereIs(store, kept));
  return ifReadable(() => {
    const bytes = readRegularFile(root, path);
    return bytes === undefined ? '' : textOfBody(readable(root, path, bytes));
  }, '');
};

/** The sessions of a Work item that can be read, oldest first. Undefined when there is no such Work item. */
export const sessionsOf = (store: Store, caseId: string): StoredSession[] | undefined => {
  const folder = folderOf(store, caseId);
  if (folder === undefined) return undefined;
  return listDirectory(folder)
    .flatMap((name) => orElse(() => readIn(store, caseId, join(folder, name)), undefined) ?? [])
    .toSorted((a, b) => byAge(a.session, b.session));
};

/** The newest session of a Work item that can be read: of those before it nothing is read. */
export const newestSession = (store: Store, caseId: string): StoredSession | undefined => {
  const folder = folderOf(store, caseId);
  if (folder === undefined) return undefined;
  // Their names sort as they were made.
  for (const name of listDirectory(folder).toSorted().reverse()) {
    const kept = orElse(() => readIn(store, caseId, join(folder, name)), undefined);
    if (kept !== undefined) return kept;
  }
  return undefined;
};

/** Makes the directory of a new session. */
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
    const kept = await orTakenBack(store, dir, async () => {
      await createDirectory(store.layout, dir, { 'session.md': text });
      const made = readIn(store, caseId, dir);
      const run = made && { id: matter.id, state: runStateOf(made.session, store.clock()) };
      if (run !== undefined) await store.journal.append({ run });
      return made;
    });
    if (isGateShut(gateOf(store))) noteMatter(store, caseId, matter);
    return kept;
  });

// One that this machine does not know as its own would wait for ever, and keep the others waiting.
const orTakenBack = <T>(store: Store, dir: string, make: () => Promise<T>): Promise<T> =>
  make().catch(async (error: unknown) => {
    if (isDirectoryItself(dir)) await removeDirectory(store.layout, dir);
    throw error;
  });

/** Makes a session this machine's own, and remembers how it is: as silently as a start that finds no journal. */
export const claimSession = async (store: Store, { session }: StoredSession): Promise<void> => {
  const { machine, journal } = store;
  // A lock and a session that were made by file are nobody's while somebody may have made them who is not the operator.
  if (isGateShut(gateOf(store)) && !journal.fresh) return;
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
  store.locks.take(lockOn.item(caseId), async () => {
    const dir = findIn(store, caseId, id)?.dir;
    if (dir === undefined) return undefined;
    await readyToWrite(store);
    let [matter, isChanged]: [SessionMatter?, boolean?] = [];
    const isThere = await editRecord(store.layout, sessionFile(dir), ({ source }) => {
      matter = heldIn(store, dir, source);
      const change = rule(sessionOf(store, caseId, { dir, matter }), matter);
      isChanged = change !== undefined;
      if (change === undefined) return undefined;
      const { summary, ...changes } = change;
      matter = { ...matter, ...changes };
      intendMatter(store, matter);
      return summary === undefined ? { changes } : { changes, body: `\n${summary}\n` };
    });
    if (!isThere || matter === undefined) return undefined;
    if (isChanged === true) noteMatter(store, caseId, matter);
    return keptOf(store, caseId, { dir, matter });
  });

/** True while something that follows from the session's record is not done yet. */
export const isUntold = (
  { journal }: Store,
  { id, status }: Pick<Session, 'id' | 'status'>,
): boolean => {
  const told = journal.runs.get(id)?.status;
  return told === undefined ? !isEnded(status) : told !== status;
};

/** The session, while that is so; undefined once nothing is left to do. */
export const untoldSession = (
  store: Store,
  caseId: string,
  id: string,
): StoredSession | undefined => {
  const found = recordIn(store, caseId, id);
  return found && isUntold(store, found.matter) ? keptOf(store, caseId, found) : undefined;
};

const folderOf = (store: Store, caseId: string): string | undefined =>
  pathOfItem(store, caseId, sessionsDir);

// The directory's name ends with the start of the id; the record inside has the whole of it, and is read once.
const findIn = (
  store: Store,
  caseId: string,
  id: string,
): { dir: string; matter?: SessionMatter } | undefined => {
  const folder = folderOf(store, caseId);
  if (folder === undefined) return undefined;
  for (const name of listDirectory(folder).filter((each) => each.endsWith(shortId(id)))) {
    const dir = join(folder, name);
    const matter = orElse(() => matterIn(store, dir), undefined);
    if (matter?.id === id) return { dir, matter };
    // One that cannot be read is told as such.
    if (bytesOf(store, dir)?.includes(id)) return { dir };
  }
  return undefined;
};

const bytesOf = ({ layout }: Store, dir: string): Buffer | undefined =>
  readRegularFile(layout.root, sessionFile(dir));

const check = checkerOf(SessionMatter);

/** The session of a directory; undefined where it has no record. Throws `unreadable_record`. */
export const readIn = (store: Store, case_id: string, dir: string): StoredSession | undefined => {
  const matter = matterIn(store, dir);
  return matter && keptOf(store, case_id, { dir, matter });
};

const keptOf = (store: Store, case_id: string, record: SessionRecord): StoredSession => ({
  ...record,
  session: sessionOf(store, case_id, record),
});

const matterIn = (store: Store, dir: string): SessionMatter | undefined => {
  const found = readRecord(store.layout.root, sessionFile(dir), check)?.matter;
  return found && heldMatter(store, dir, found);
};

const heldIn = (store: Store, dir: string, source: FrontMatter): SessionMatter => {
  const file = relative(store.layout.root, sessionFile(dir));
  return heldMatter(
    store,
    dir,
    explained(file, () => check(source.data, source)),
  );
};
