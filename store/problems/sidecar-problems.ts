import { basename, dirname, join, relative } from 'node:path';
import { inSlices } from '../base/async.ts';
import { overlap, parentsOf } from '../base/paths.ts';
import { dropLinks, refreshLink } from '../codehost/link-index.ts';
import { dropPulls, refreshPull } from '../codehost/pulls.ts';
import { type ReadEntry, readEntry, sameEntries, withProblem } from '../front-matter/entry.ts';
import { folderFault, listFolder } from '../front-matter/folder.ts';
import { parserOf } from '../front-matter/parse.ts';
import { type FileProblem, LINKED_FOLDER, Problem, toProblem } from '../front-matter/problem.ts';
import { entryProblem } from '../front-matter/problems.ts';
import { statsAt } from '../fs/plain-path.ts';
import { type Layout, memoryDir, sessionFile, sessionsDir } from '../layout.ts';
import type { Item } from '../reconcile/item.ts';
import { allItems, isFromBaseline, itemIn, itemOf, notice } from '../reconcile/items.ts';
import { LockMatter } from '../records/lock.ts';
import { isEnded } from '../records/session.ts';
import { forgetComments, journalComments } from '../sessions/comments.ts';
import { readPatches } from '../sessions/patches.ts';
import { approvalProblems } from '../sessions/plan-versions.ts';
import { parseSessionIn } from '../sessions/session-file.ts';
import { copyProblem } from '../sessions/sessions.ts';
import { noteOpenSessions } from '../sessions/unconfirmed.ts';
import { remembered, type Store } from '../store.ts';
import { readSidecarFiles } from './sidecar-files.ts';

/**
 * Checks the files of all Work items that a comparison does not read. Runs after the start, since most sessions ended long
 * ago. Yields to requests every few milliseconds.
 */
export const checkSidecars = async (store: Store): Promise<void> => {
  await inSlices(allItems(store), (item) => checkAgain(store, item));
  passesOf(store).done = true;
  for (const id of filesOf(store).keys())
    if (itemOf(store, id) === undefined) removeGone(store, id);
  dropLinks(store);
  dropPulls(store);
};

/** As `checkSidecars`, but for one Work item if this path of the workspace is in it, and for none if it is outside of them. */
export const checkSidecarsBelow = async (store: Store, place: string): Promise<void> => {
  const { root, cases } = store.layout;
  const path = relative(root, place);
  const dirs = [path, ...parentsOf(path)];
  const item = dirs.map((dir) => itemIn(store, dir)).find((one) => one !== undefined);
  if (item !== undefined) checkAgain(store, item);
  else if (overlap(place, cases)) await checkSidecars(store);
};

const checkAgain = (store: Store, item: Item): void =>
  checkItemSidecars(store, item, !passesOf(store).done && isFromBaseline(store, item.id));

/** The checked files of each Work item. */
export const filesOf = remembered(() => new Map<string, SessionFiles>());

/** Whether all Work items were checked. The first pass makes no events of what a workspace without a journal had. */
const passesOf = remembered(() => ({ done: false }));

/** Checks the files of one Work item. */
export const checkItemSidecars = (store: Store, item: Item, isBaseline = false): void => {
  if (itemOf(store, item.id) !== item) return;
  const known = filesOf(store);
  const before = known.get(item.id);
  const files = readSessionFiles(store.layout, item.dir, before);
  if (files.size === 0) known.delete(item.id);
  else known.set(item.id, files);
  store.problems.set(ownerOf(item.id), problemsOfSessions(store, item, files));
  noteOpenSessions(store, item.id, openSessionsIn(files));
  refreshLink(store, item);
  refreshPull(store, item);
  if (sameEntries(before ?? new Map(), files)) return;
  notice(store, item.id);
  if (haveCommentsChanged(files, before))
    reportFailure(store, journalComments(store, item.id, isBaseline));
};

const reportFailure = (store: Store, journaling: Promise<void>): void =>
  void journaling.catch((error) => store.report(error, 'journaling comments'));

const removeGone = (store: Store, id: string): void => {
  filesOf(store).delete(id);
  noteOpenSessions(store, id);
  store.problems.set(ownerOf(id), []);
  reportFailure(store, forgetComments(store, id));
};

const ownerOf = (id: string): string => `${id}/sessions`;

/**
 * The files of a Work item that are not kept in memory, as last read, by path within the Work item: sessions, the lock,
 * sidecar records, and problems of their folders. Entries have only what tells problems and changes.
 */
export type SessionFiles = ReadonlyMap<string, ReadEntry<unknown>>;

/** Reads the files that changed since the last reading. */
const readSessionFiles = (
  layout: Layout,
  dir: string,
  before: SessionFiles = NONE,
): SessionFiles => {
  const path = join(layout.root, dir);
  const { names, fault } = listFolder(sessionsDir(path));
  const found = new Map<string, ReadEntry<unknown>>();
  const put = (name: string, entry: ReadEntry<unknown> | undefined): void => {
    if (entry !== undefined) found.set(name, entry);
  };
  put('memory', faultOf(folderFault(memoryDir(path))));
  put('sessions', faultOf(fault));
  for (const [file, entry] of readSidecarFiles(path, before)) put(file, entry);
  for (const name of names) {
    const file = name === LOCK ? `sessions/${name}` : `sessions/${name}/session.md`;
    const entry = readSessionOrLock(sessionsDir(path), name, before.get(file));
    put(file, entry);
    for (const text of checkedTexts(name, entry))
      put(`sessions/${name}/${text}`, readText(path, `sessions/${name}/${text}`, before));
    const known = (file: string) => before.get(`sessions/${name}/${file}`);
    for (const [file, read] of readBeside(layout, join(sessionsDir(path), name), entry, known))
      put(`sessions/${name}/${file}`, read);
  }
  return found.size === 0 ? NONE : found;
};

const NONE: SessionFiles = new Map<string, never>();
const LOCK = 'lock.md';
const COMMENTS = 'comments.md';
const PLAN = 'plan.md';

// plan.md counts until the approval; after it, `approvalProblems` compares it with the approved text.
const checkedTexts = (name: string, entry: ReadEntry<unknown> | undefined): string[] => {
  if (name === LOCK || entry === undefined || entry.problem === LINKED_FOLDER) return [];
  return approvedIn(entry) === undefined ? [COMMENTS, PLAN] : [COMMENTS];
};

/** Whether comments on a plan may have changed. */
const haveCommentsChanged = (files: SessionFiles, before: SessionFiles = NONE): boolean =>
  [...new Set([...files.keys(), ...before.keys()])].some(
    (file) => file.endsWith(`/${COMMENTS}`) && files.get(file) !== before.get(file),
  );

// The file may be empty.
const readText = (path: string, file: string, known: SessionFiles) => {
  const reading = { before: known.get(file), parse: () => undefined };
  const entry = readEntry<unknown>(join(path, file), reading);
  return entry?.problem?.code === 'empty_file' ? { ...entry, problem: undefined } : entry;
};

const readSessionOrLock = (
  folder: string,
  name: string,
  before: ReadEntry<unknown> | undefined,
): ReadEntry<unknown> | undefined => {
  const path = join(folder, name);
  if (name === LOCK) return readEntry(path, { before, parse: parseLock });
  try {
    const stats = statsAt(path);
    if (stats?.isSymbolicLink() === true) return withProblem(undefined, LINKED_FOLDER);
    if (stats?.isDirectory() !== true) return undefined;
    return readEntry(sessionFile(path), { before, parse: parseSeen(name) });
  } catch (error) {
    return withProblem(undefined, toProblem(error));
  }
};

const parseLock = parserOf(LockMatter);

/** The fields that are kept of a session's record. */
interface SessionSeen {
  /** The hash of the approved text. */
  approved: string | undefined;
  /** The id of a session that has not ended. */
  open: string | undefined;
  /** The id of one that has. */
  ended: string | undefined;
}

const parseSeen =
  (name: string) =>
  (text: string): SessionSeen => {
    const { id, status, approved_sha256: approved } = parseSessionIn(name)(text);
    const [open, ended] = isEnded(status) ? [undefined, id] : [id, undefined];
    return { approved: approved ?? undefined, open, ended };
  };

const seenIn = (entry: ReadEntry<unknown> | undefined): Partial<SessionSeen> =>
  Object(entry?.value) as Partial<SessionSeen>;

const approvedIn = (entry: ReadEntry<unknown> | undefined): string | undefined =>
  seenIn(entry).approved;

/** The names of open sessions' directories, with the ids of the sessions. */
const openSessionsIn = (files: SessionFiles): ReadonlyMap<string, string> => {
  const found = [...files].flatMap(([file, entry]): [string, string][] => {
    const { open } = seenIn(entry);
    return open === undefined ? [] : [[basename(dirname(file)), open]];
  });
  return new Map(found);
};

// The plan texts of an approved session that differ from the approval, and the patches of which this machine has a hash.
const readBeside = (
  layout: Layout,
  dir: string,
  entry: ReadEntry<unknown> | undefined,
  before: (file: string) => ReadEntry<unknown> | undefined,
): [file: string, ReadEntry<unknown>][] => {
  const { approved, open, ended } = seenIn(entry);
  const problems = approved === undefined ? [] : approvalProblems(layout.root, dir, approved);
  const id = open ?? ended;
  return [
    ...[...problems].map(([file, problem]): [string, ReadEntry<unknown>] => [
      file,
      withProblem(undefined, problem),
    ]),
    ...(id === undefined ? [] : readPatches(layout, { dir, id }, before)),
  ];
};

const faultOf = (problem: Problem | undefined): ReadEntry<unknown> | undefined =>
  problem && withProblem(undefined, problem);

/** The problems of the files. */
const problemsOfSessions = (
  store: Store,
  { id, dir }: Item,
  files: SessionFiles,
): FileProblem[] => {
  const twins = twinsIn(files);
  return [...files].flatMap(([name, entry]) => {
    const { open } = seenIn(entry);
    const copy = (open && copyProblem(store, id, open)) ?? twins.get(name);
    return entryProblem(`${dir}/${name}`, copy ? withProblem(undefined, copy) : entry);
  });
};

/** The problem of each further directory of a session that is open in one of them, by file. */
const twinsIn = (files: SessionFiles): ReadonlyMap<string, Problem> => {
  const first = new Map<string, { name: string; isOpen: boolean }>();
  const found = new Map<string, Problem>();
  for (const [name, entry] of files) {
    const { open, ended } = seenIn(entry);
    const [id, isOpen] = [open ?? ended, open !== undefined];
    if (id === undefined) continue;
    const other = first.get(id);
    if (other === undefined) first.set(id, { name, isOpen });
    else if (isOpen || other.isOpen) found.set(name, twinProblem(id, dirname(other.name)));
  }
  return found;
};

// Calls find the first by name, which may be the copy, and have ended while the other is open.
const twinProblem = (id: string, first: string): Problem =>
  new Problem(
    'duplicate_id',
    `${first} has the same session, ${id}, and counts instead of this one. Compare them, and remove the directory that is not yours`,
  );
