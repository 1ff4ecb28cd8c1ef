import { basename, dirname, join } from 'node:path';
import { inSlices } from '../base/slices.ts';
import { dropLinks, noteLink } from '../codehost/link-index.ts';
import { dropPulls, notePull } from '../codehost/pulls.ts';
import { type ReadEntry, readEntry, sameEntries } from '../front-matter/entry.ts';
import { entryProblem } from '../front-matter/entry-problems.ts';
import { folderFault, listFolder } from '../front-matter/folder.ts';
import { parserOf } from '../front-matter/parse.ts';
import {
  asProblem,
  type FileProblem,
  LINKED_FOLDER,
  type Problem,
} from '../front-matter/problem.ts';
import { statsAt } from '../fs/plain-path.ts';
import { memoryDir, sessionFile, sessionsDir } from '../layout.ts';
import type { Item } from '../reconcile/item.ts';
import { allItems, itemOf, notice, wasUntold } from '../reconcile/items.ts';
import { LockMatter } from '../records/lock.ts';
import { isEnded, SessionMatter } from '../records/session.ts';
import { forgetComments, tellComments } from '../sessions/comments.ts';
import { approvalProblems } from '../sessions/plan-versions.ts';
import { noteOpenSessions } from '../sessions/unconfirmed.ts';
import { remembered, type Store } from '../store.ts';
import { faulty, readAside } from './sidecar-files.ts';

/**
 * Looks at the files of all Work items that no comparison needs, for what is wrong with them. After the start, and not
 * before it: of many sessions most have ended long ago. It gives way to requests every few milliseconds.
 */
export const lookCloser = async (store: Store): Promise<void> => {
  const passes = passesOf(store);
  const isBaseline = wasUntold(store) && !passes.done;
  await inSlices(allItems(store), (item) => lookCloserAt(store, item, isBaseline));
  passes.done = true;
  for (const id of filesOf(store).keys()) if (itemOf(store, id) === undefined) forget(store, id);
  dropLinks(store);
  dropPulls(store);
};

/** What of each Work item was looked at for problems alone. */
export const filesOf = remembered(() => new Map<string, SessionFiles>());

/** Whether all of them were looked at. What is found before is no news where nobody knows what was told. */
const passesOf = remembered(() => ({ done: false }));

/** The same for one Work item. */
export const lookCloserAt = (store: Store, item: Item, isBaseline = false): void => {
  if (itemOf(store, item.id) !== item) return;
  const known = filesOf(store);
  const before = known.get(item.id);
  const files = readSessionFiles(store.layout.root, item.dir, before);
  if (files.size === 0) known.delete(item.id);
  else known.set(item.id, files);
  store.problems.set(ownerOf(item.id), problemsOfSessions(item.dir, files));
  noteOpenSessions(store, item.id, openSessionsIn(files));
  noteLink(store, item);
  notePull(store, item);
  if (sameEntries(before ?? new Map(), files)) return;
  notice(store, item.id);
  if (saysOther(files, before)) follow(store, tellComments(store, item.id, isBaseline));
};

const follow = (store: Store, told: Promise<void>): void =>
  void told.catch((error) => store.report(error, 'telling what is said of plans'));

const forget = (store: Store, id: string): void => {
  filesOf(store).delete(id);
  noteOpenSessions(store, id);
  store.problems.set(ownerOf(id), []);
  follow(store, forgetComments(store, id));
};

const ownerOf = (id: string): string => `${id}/sessions`;

/**
 * What of a Work item is not kept in memory, as it was last read: sessions, the lock, records of rebases and of its pull
 * request, and whether their folders and that of the memory files are folders. By path within the Work item; nothing but what is wrong, and what tells a change.
 */
export type SessionFiles = ReadonlyMap<string, ReadEntry<unknown>>;

/** Reads what changed since it was last read. */
export const readSessionFiles = (
  root: string,
  dir: string,
  before: SessionFiles = NONE,
): SessionFiles => {
  const path = join(root, dir);
  const { names, fault } = listFolder(sessionsDir(path));
  const found = new Map<string, ReadEntry<unknown>>();
  const put = (name: string, entry: ReadEntry<unknown> | undefined): void => {
    if (entry !== undefined) found.set(name, entry);
  };
  put('memory', faultOf(folderFault(memoryDir(path))));
  put('sessions', faultOf(fault));
  for (const [file, entry] of readAside(path, before)) put(file, entry);
  for (const name of names) {
    const file = name === LOCK ? `sessions/${name}` : `sessions/${name}/session.md`;
    const entry = readOne(sessionsDir(path), name, before.get(file));
    put(file, entry);
    for (const text of textsOf(name, entry))
      put(`sessions/${name}/${text}`, readText(path, `sessions/${name}/${text}`, before));
    for (const [text, problem] of readApproval(root, join(sessionsDir(path), name), entry))
      put(`sessions/${name}/${text}`, faulty(problem));
  }
  return found.size === 0 ? NONE : found;
};

const NONE: SessionFiles = new Map<string, never>();
const LOCK = 'lock.md';
const COMMENTS = 'comments.md';
const PLAN = 'plan.md';

// Who waits for a word on the plan wants to know that it is another; of one that was approved, more is asked.
const textsOf = (name: string, entry: ReadEntry<unknown> | undefined): string[] => {
  if (name === LOCK || entry === undefined || entry.problem === LINKED_FOLDER) return [];
  return approvedIn(entry) === undefined ? [COMMENTS, PLAN] : [COMMENTS];
};

/** Whether what the operator says of a plan may be another than before. */
export const saysOther = (files: SessionFiles, before: SessionFiles = NONE): boolean =>
  [...new Set([...files.keys(), ...before.keys()])].some(
    (file) => file.endsWith(`/${COMMENTS}`) && files.get(file) !== before.get(file),
  );

// It may say nothing.
const readText = (path: string, file: string, known: SessionFiles) => {
  const reading = { before: known.get(file), parse: () => undefined };
  const entry = readEntry<unknown>(join(path, file), reading);
  return entry?.problem?.code === 'empty_file' ? { ...entry, problem: undefined } : entry;
};

const readOne = (
  folder: string,
  name: string,
  before: ReadEntry<unknown> | undefined,
): ReadEntry<unknown> | undefined => {
  const path = join(folder, name);
  if (name === LOCK) return readEntry(path, { before, parse: parseLock });
  try {
    const stats = statsAt(path);
    if (stats?.isSymbolicLink() === true) return faulty(LINKED_FOLDER);
    if (stats?.isDirectory() !== true) return undefined;
    return readEntry(sessionFile(path), { before, parse: parseSeen });
  } catch (error) {
    return faulty(asProblem(error));
  }
};

const parseLock = parserOf(LockMatter);
const parseSession = parserOf(SessionMatter);

/** What is kept of a session's record. */
interface SessionSeen {
  /** The hash of what was approved. */
  approved: string | undefined;
  /** The id of one that has not ended. */
  open: string | undefined;
}

const parseSeen = (text: string): SessionSeen => {
  const { id, status, approved_sha256: approved } = parseSession(text);
  return { approved: approved ?? undefined, open: isEnded(status) ? undefined : id };
};

const seenIn = (entry: ReadEntry<unknown> | undefined): Partial<SessionSeen> =>
  Object(entry?.value) as Partial<SessionSeen>;

const approvedIn = (entry: ReadEntry<unknown> | undefined): string | undefined =>
  seenIn(entry).approved;

/** The directories of sessions that have not ended, with their ids. */
export const openSessionsIn = (files: SessionFiles): ReadonlyMap<string, string> => {
  const found = [...files].flatMap(([file, entry]): [string, string][] => {
    const { open } = seenIn(entry);
    return open === undefined ? [] : [[basename(dirname(file)), open]];
  });
  return new Map(found);
};

const readApproval = (
  root: string,
  dir: string,
  entry: ReadEntry<unknown> | undefined,
): ReadonlyMap<string, Problem> => {
  const approved = approvedIn(entry);
  return approved === undefined ? NO_PROBLEMS : approvalProblems(root, dir, approved);
};

const NO_PROBLEMS: ReadonlyMap<string, Problem> = new Map<string, never>();

const faultOf = (problem: Problem | undefined): ReadEntry<unknown> | undefined =>
  problem && faulty(problem);

/** What is wrong with them. */
export const problemsOfSessions = (dir: string, files: SessionFiles): FileProblem[] =>
  [...files].flatMap(([name, entry]) => entryProblem(`${dir}/${name}`, entry));
