import { inSlices } from '../base/async.ts';
import { lockOn } from '../base/locks.ts';
import { parentsOf } from '../base/paths.ts';
import { refreshGlobals } from '../settings/globals.ts';
import type { Store } from '../store.ts';
import { runDeferred } from './deferred.ts';
import { canLookAgain, lookFor, meet, noteDirectory } from './discover.ts';
import type { Item } from './item.ts';
import { allItems, clearUnusable, forgetItem, itemIn, itemsOf } from './items.ts';
import { isUnread, readJournaled } from './journaled.ts';
import { readItemFiles, sameFiles } from './read-item.ts';
import { updateLockState } from './reconcile.ts';
import { isClosed, type WalkedDirectory, walk } from './walk.ts';

const IN_FLIGHT = 256;

/**
 * Compares the whole workspace with the index. Watchers lose events without notice, so the sweep makes sure that every
 * change is found. It yields to requests every few milliseconds. Changes are skipped while `gitWorks` returns true; then
 * the sweep returns false and has to be repeated.
 */
export const sweepWorkspace = async (
  store: Store,
  gitWorks: () => boolean = () => false,
): Promise<boolean> => {
  await refreshGlobals(store, true);
  const found = new Map<string, WalkedDirectory['kind']>();
  const work: Promise<void>[] = [];
  const failed: Failure[] = [];
  let isWhole = true;
  const compareAt = async ({ dir, kind, names }: WalkedDirectory): Promise<void> => {
    if (!hasChanged(store, dir)) return;
    const item = itemIn(store, dir);
    // git may begin while another change of it is journaled.
    if (item !== undefined) await store.locks.whenFree(lockOn.item(item.id));
    if (gitWorks()) isWhole = false;
    else await read(store, dir, kind === 'item' ? names : undefined);
  };
  await inSlices(walk(store.layout.root), (place) => {
    const { dir, kind } = place;
    if (kind !== 'folder') found.set(dir, kind);
    // Caught here, so that one failing Work item does not end the sweep.
    if (isComparable(store, place))
      work.push(compareAt(place).catch((error) => void failed.push({ dir, error })));
    return work.length < IN_FLIGHT ? undefined : Promise.all(work.splice(0));
  });
  await Promise.all(work);
  if (isWhole) await checkAbsent(store, found);
  reportFailures(store, failed);
  runDeferred(store);
  return isWhole;
};

const read = async (store: Store, dir: string, names?: readonly string[]): Promise<void> => {
  const id = itemIn(store, dir)?.id;
  if (id !== undefined && isUnread(store, id) && (await readJournaled(store, id, names))) return;
  await meet(store, dir, names);
};

const isComparable = (store: Store, place: WalkedDirectory): boolean => {
  const { dir, kind } = place;
  if (isClosed(kind) && (itemIn(store, dir) !== undefined || itemsOf(store).formerly.has(dir)))
    return true;
  noteDirectory(store, place);
  return kind === 'item';
};

interface Failure {
  dir: string;
  error: unknown;
}

const reportFailures = (store: Store, failed: readonly Failure[]): void => {
  const [first] = failed;
  if (first !== undefined)
    store.report(first.error, `comparing ${failed.length} Work items, the first in ${first.dir}`);
};

const hasChanged = (store: Store, dir: string): boolean => {
  const item = itemIn(store, dir);
  if (item === undefined || isUnread(store, item.id)) return true;
  updateLockState(store, item);
  const patient = canLookAgain(store);
  const { id, files: before, seen } = item;
  const files = readItemFiles(store.layout.root, dir, { id, files: before, seen, patient });
  // Changes that could not be journaled before, as on a full disk, are journaled now.
  const isJournaled =
    item.journaledFiles === item.files && item.files.case.problem?.code !== 'wrong_id';
  return !isJournaled || files === undefined || !sameFiles(files, item.files);
};

const checkAbsent = async (
  store: Store,
  found: ReadonlyMap<string, WalkedDirectory['kind']>,
): Promise<void> => {
  const { strangers, unsettled } = itemsOf(store);
  for (const dir of strangers) if (!found.has(dir)) clearUnusable(store, dir);
  for (const dir of unsettled.keys()) if (!found.has(dir)) unsettled.delete(dir);
  const absent = allItems(store).filter(({ dir }) => !mayBeThere(found.get(dir)));
  const isHidden = ({ dir }: Item): boolean => parentsOf(dir).some((at) => isClosed(found.get(at)));
  await forgetUnread(store, absent, isHidden);
  await lookFor(store, absent);
};

const forgetUnread = async (
  store: Store,
  absent: readonly Item[],
  isHidden: (item: Item) => boolean,
): Promise<void> => {
  for (const item of absent.filter(({ id }) => isUnread(store, id))) {
    // It can be read although the directory above it cannot be listed.
    if (isHidden(item)) await readJournaled(store, item.id);
    else forgetItem(store, item);
  }
};

// A link in the place of a Work item is not the Work item.
const mayBeThere = (kind: WalkedDirectory['kind'] | undefined): boolean =>
  kind === 'item' || isClosed(kind);
