import { orElse } from '../base/attempt.ts';
import { lockOn } from '../base/locks.ts';
import { isSame } from '../front-matter/entry.ts';
import { statsAt } from '../fs/plain-path.ts';
import { isGateShut } from '../held/held.ts';
import { gateOf } from '../held/held-file.ts';
import { CASE_FILE } from '../layout.ts';
import type { Store } from '../store.ts';
import { fixesOf } from './fixes.ts';
import type { Item } from './item.ts';
import { directoryStatusOf, itemOf, whenCompared } from './items.ts';
import { isUnread, readJournaled } from './journaled.ts';
import { type ItemFiles, readItemFiles, sameFiles } from './read-item.ts';
import { reconcile, reconcileLocked } from './reconcile.ts';

/**
 * The Work item as it is on disk now, for requests that only show it; they never wait for a writer. While its lock is held
 * the files are read without it, and nothing is kept or journaled. With `whole`, proofs are compared as well as case.md.
 */
export const peekItem = async (
  store: Store,
  id: string,
  whole = false,
): Promise<Item | undefined> => {
  const item = knownItem(store, id) ?? (await firstReading(store, id));
  if (item !== undefined && store.locks.isTaken(lockOn.item(id))) return peekUnlocked(store, item);
  if (item === undefined || (!whole && isUnchanged(store, item))) return item;
  await reconcileForRead(store, id);
  return itemOf(store, id);
};

const knownItem = (store: Store, id: string): Item | undefined =>
  isUnread(store, id) ? undefined : itemOf(store, id);

// While the daemon starts, a Work item is read when it is first requested. One that is not where the journal says is known
// when the whole workspace is compared.
const firstReading = async (store: Store, id: string): Promise<Item | undefined> => {
  if (!(isUnread(store, id) && (await readJournaled(store, id)))) await whenCompared(store);
  return itemOf(store, id);
};

// Which changes are held or accepted is known only under the lock: then the last reading is returned.
const peekUnlocked = (store: Store, item: Item): Item => {
  const { layout } = store;
  const { id, dir, files: before, seen, held } = item;
  if (isGateShut(gateOf(store)) || held !== undefined) return item;
  if (directoryStatusOf(store, item) === 'gone') return item;
  const last = unlockedReadings.get(before);
  const files = readItemFiles(layout.root, dir, { id, files: last?.files ?? before, seen });
  if (files === undefined || sameFiles(files, before)) return item;
  if (last?.item.dir === dir && sameFiles(files, last.files)) return last.item;
  const looked = { ...item, files: withIdsOnDisk(files), response: undefined };
  unlockedReadings.set(before, { files, item: looked });
  return looked;
};

// The last unlocked reading, so that concurrent readers parse a change once.
const unlockedReadings = new WeakMap<ItemFiles, { files: ItemFiles; item: Item }>();

// A proof without an id on disk would get another one at each reading.
const withIdsOnDisk = (files: ItemFiles): ItemFiles => ({
  ...files,
  proofs: new Map([...files.proofs].filter(([, { value }]) => value?.adopt?.id === undefined)),
});

/** The Work item as it is on disk now; for `patient` see `reconcileLocked`. Costs one lstat if case.md did not change. */
export const freshItem = async (
  store: Store,
  id: string,
  patient = false,
): Promise<Item | undefined> => {
  const item = knownItem(store, id) ?? (await firstReading(store, id));
  if (item === undefined || isUnchanged(store, item)) return item;
  await reconcile(store, id, patient);
  return itemOf(store, id);
};

const isUnchanged = ({ layout }: Store, { dir, files }: Item): boolean => {
  // The reading itself reports what makes the file unreadable. Each GET comes here, and `join` costs as much as a third of lstat.
  const stats = orElse(() => statsAt(`${layout.root}/${dir}/${CASE_FILE}`), undefined);
  return stats !== undefined && isSame(files.case, stats);
};

// Resolves once the files are read, before the journal is on disk, unless fixes have to be written, or may have to be once it
// has a decision about the proof. Rejects with errors of the reading; later errors are reported.
const reconcileForRead = (store: Store, id: string): Promise<void> =>
  new Promise((resolve, reject) => {
    let isShown = false;
    const turn = store.locks.take(lockOn.item(id), async () => {
      const item = itemOf(store, id);
      if (item === undefined) return;
      const reconciling = reconcileLocked(store, item);
      isShown = fixesOf(store, item).length === 0;
      if (isShown && item.seen?.decided === undefined) resolve();
      await reconciling;
    });
    turn.then(resolve, (error) => {
      if (!isShown) return reject(error);
      store.report(error, `journaling changes of ${id}`);
      resolve();
    });
  });
