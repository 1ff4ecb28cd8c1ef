import { basename, dirname, join } from 'node:path';
import { lockOn } from '../base/locks.ts';
import { parentsOf } from '../base/paths.ts';
import { isNewDoubt, isSound } from '../front-matter/entry.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { fileProblem, fileProblems, notAdopted, Problem } from '../front-matter/problem.ts';
import { duplicateId } from '../front-matter/problems.ts';
import { editKnown, placeOfId } from '../front-matter/record-file.ts';
import { isSameFile, statsAt } from '../fs/plain-path.ts';
import { repeat } from '../fs/retry.ts';
import { CASE_FILE, caseFile } from '../layout.ts';
import { type Store, watchRequestsOf } from '../store.ts';
import { type Item, newItem } from './item.ts';
import {
  allItems,
  clearUnusable,
  itemIn,
  itemOf,
  itemsOf,
  markUnusable,
  moveItem,
  putItem,
} from './items.ts';
import { type ItemFiles, type KnownFiles, readItemFiles } from './read-item.ts';
import { reconcile, reconcileLocked, reconcileRead, updateLockState } from './reconcile.ts';
import { FAULTS, type WalkedDirectory, walk } from './walk.ts';

/**
 * Finds Work items that were created, copied, moved or removed by hand under `from`, a path relative to the workspace. What
 * changed inside of those that are known and there is not looked at.
 */
export const discover = async (store: Store, from = 'cases'): Promise<void> => {
  const known = (dir: string): boolean => itemIn(store, dir) !== undefined;
  const there = new Set<string>();
  const strangers = new Set(itemsOf(store).strangers);
  const skip = (dir: string): boolean => {
    if (known(dir)) there.add(dir);
    return there.has(dir);
  };
  let isFolder = false;
  for (const place of walk(store.layout.root, from, skip)) {
    const { dir, kind } = place;
    if (kind === 'folder') isFolder = true;
    else strangers.delete(dir);
    noteDirectory(store, place);
    if (kind !== 'item') continue;
    there.add(dir);
    await meet(store, dir);
  }
  for (const dir of strangers)
    if (`${dir}/`.startsWith(`${from}/`) && !known(dir)) clearUnusable(store, dir);
  if (isFolder) await lookForAbsent(store, from, there);
};

/**
 * Compares the known Work items below a folder that are not among those found there. What was removed with the whole folder,
 * or before its watch began, has no hint of its own.
 */
export const lookForAbsent = async (
  store: Store,
  from: string,
  there: ReadonlySet<string> = new Set(),
): Promise<void> => {
  const absent = allItems(store).filter(({ dir }) => dir.startsWith(`${from}/`) && !there.has(dir));
  await lookFor(store, absent);
};

/** Compares Work items that a walk did not find. Where one cannot be compared, that is reported. */
export const lookFor = async (store: Store, absent: readonly Item[]): Promise<void> => {
  await Promise.all(
    absent.map(({ id, dir }) =>
      reconcile(store, id).catch((error) => store.report(error, `looking for ${dir}`)),
    ),
  );
};

/** Watches a Work item or a folder of Work items, and reports a directory that is not entered, which may be either. */
export const noteDirectory = (store: Store, { dir, kind }: WalkedDirectory): void => {
  if (kind === 'item' || kind === 'folder') watchRequestsOf(store).watch(dir, kind);
  else markUnusable(store, dir, [fileProblem(dir, FAULTS[kind])]);
};

/**
 * Reconciles a directory that has a case.md: a known Work item, a new one, one that moved here, or one that is unusable.
 * `names` as in KnownFiles.
 */
export const meet = async (store: Store, dir: string, names?: readonly string[]): Promise<void> => {
  const known = itemIn(store, dir);
  if (known !== undefined) await reconcile(store, known.id, canLookAgain(store));
  if (known !== undefined && known.files.case.problem?.code !== 'wrong_id') return;
  const files = await readCompleted(store, dir, names);
  if (files?.case.doubted_at !== undefined) return lookAgainLater(store, dir, files);
  itemsOf(store).unsettled.delete(dir);
  const id = files?.case.value?.matter.id;
  if (files === undefined || id === undefined) return reject(store, dir, files?.case.problem);
  const now = itemIn(store, dir);
  if (now === undefined)
    await store.locks.take(lockOn.item(id), () => placeItem(store, dir, id, files));
  else if (now.id !== id && itemOf(store, id) !== undefined)
    await swapDirectories(store, now, dir, id);
};

// A hand-made directory gets its missing fields before it enters the index: an id that is not on disk would be another one
// after a crash.
const readCompleted = async (
  store: Store,
  dir: string,
  names: readonly string[] | undefined,
): Promise<ItemFiles | undefined> => {
  const { root } = store.layout;
  let files = readItemFiles(root, dir, { ...knownFilesAt(store, dir), names });
  const done = await repeat(async () => {
    const changes = files?.case.value?.adopt;
    if (files === undefined || changes === undefined || !isSound(files.case)) return { files };
    try {
      await editKnown(store.layout, caseFile(join(root, dir)), files.case.sha, () => ({ changes }));
    } catch (error) {
      return { files: withCaseProblem(files, notAdopted(error)) };
    }
    files = readItemFiles(root, dir);
    return undefined;
  });
  if (done !== undefined) return done.files;
  return files && withCaseProblem(files, notAdopted('case.md keeps changing'));
};

const withCaseProblem = (files: ItemFiles, problem: Problem): ItemFiles => ({
  ...files,
  case: { ...files.case, value: undefined, problem },
});

/** Whether a watcher can read a half-saved file again. */
export const canLookAgain = (store: Store): boolean =>
  watchRequestsOf(store).scheduleReread !== undefined;

const knownFilesAt = (store: Store, dir: string): KnownFiles => {
  const { unsettled, formerly, strangers } = itemsOf(store);
  const files = unsettled.get(dir);
  const patient = canLookAgain(store) && !strangers.has(dir);
  return { ...(files && { files }), seen: formerly.get(dir), patient };
};

const lookAgainLater = (store: Store, dir: string, files: ItemFiles): void => {
  const { unsettled } = itemsOf(store);
  const before = unsettled.get(dir);
  unsettled.set(dir, files);
  if (isNewDoubt(files.case, before?.case)) watchRequestsOf(store).scheduleReread?.(dir);
};

const reject = (
  store: Store,
  dir: string,
  problem = new Problem('missing_file', 'case.md is missing'),
): void => markUnusable(store, dir, fileProblems(`${dir}/${CASE_FILE}`, problem));

// Puts a new or moved directory into the index, unless an older directory still has the id.
const placeItem = async (
  store: Store,
  dir: string,
  id: string,
  files: ItemFiles,
): Promise<void> => {
  const other = itemOf(store, id);
  const seen = store.journal.seen.get(id);
  const first = other?.dir ?? seen?.dir;
  const place = first === undefined ? 'free' : placeFor(store, { id, dir, first });
  if (place === 'taken')
    return reject(store, dir, files.case.problem ?? duplicateOf(store, dir, `${first}`));
  if (place === 'former') return;
  const item = other ?? newItem({ id, dir, files, seen });
  if (other === undefined) putItem(store, item);
  else moveItem(store, other, dir);
  itemsOf(store).met(store, item);
  if (other !== undefined) return void (await reconcileLocked(store, item, canLookAgain(store)));
  updateLockState(store, item);
  await reconcileRead(store, item);
};

const placeFor = (
  store: Store,
  { id, dir, first }: Record<'id' | 'dir' | 'first', string>,
): 'free' | 'taken' | 'former' => {
  if (first === dir || !stillHasId(store, first, id)) return 'free';
  if (!isOne(store, first, dir)) return 'taken';
  // A rename hints at the former name, too.
  return isListed(store, dir) ? 'free' : 'former';
};

// Where the file system ignores case, the former name of a directory still leads to it, on some (FUSE) with another inode.
const isOne = (store: Store, first: string, dir: string): boolean => {
  if (folded(first) !== folded(dir)) return false;
  const [before, now] = [first, dir].map((each) => statsAt(join(store.layout.root, each)));
  if (now !== undefined && isSameFile(before, now)) return true;
  return !isListed(store, first) || !isListed(store, dir);
};

const isListed = ({ layout: { root } }: Store, dir: string): boolean =>
  [...parentsOf(dir), dir].every((each) =>
    listDirectory(dirname(join(root, each))).includes(basename(each)),
  );

const folded = (dir: string): string => dir.normalize('NFC').toLowerCase();

const duplicateOf = ({ layout }: Store, dir: string, first: string): Problem =>
  duplicateId(first, placeOfId(layout.root, caseFile(join(layout.root, dir))));

// An unreadable case.md counts as unchanged, so that a copy of the directory does not take its id.
const stillHasId = ({ layout }: Store, dir: string, id: string): boolean => {
  const entry = readItemFiles(layout.root, dir)?.case;
  return entry !== undefined && (entry.value === undefined || entry.value.matter.id === id);
};

// Two directories swapped their names: the ids in the files tell which is which.
const swapDirectories = async (
  store: Store,
  known: Item,
  dir: string,
  id: string,
): Promise<void> => {
  const other = itemOf(store, id) as Item;
  const from = other.dir;
  if (stillHasId(store, from, id)) return;
  moveItem(store, other, dir);
  if (itemIn(store, from) === undefined) moveItem(store, known, from);
  itemsOf(store).byDir.set(dir, other);
  await Promise.all([reconcile(store, id), reconcile(store, known.id)]);
};
