import { join } from 'node:path';
import { lockOn } from '../base/locks.ts';
import { orElse } from '../base/or-else.ts';
import { isSame } from '../front-matter/entry.ts';
import { statsAt } from '../fs/plain-path.ts';
import { isGateShut } from '../held/held.ts';
import { gateOf } from '../held/held-file.ts';
import { caseFile } from '../layout.ts';
import type { Store } from '../store.ts';
import { fixesOf } from './fixes.ts';
import type { Item } from './item.ts';
import { itemOf, standingOf } from './items.ts';
import { type ItemFiles, readItem, sameFiles } from './read-item.ts';
import { reconcile, reconcileInTurn } from './reconcile.ts';

/**
 * The item as it is on disk this moment, for who only shows it: one look, and never the queue of those who write. While
 * somebody has its turn it is looked at beside them, and nothing of that is kept or told. `whole`: with its proofs.
 */
export const glance = async (
  store: Store,
  id: string,
  whole = false,
): Promise<Item | undefined> => {
  const item = itemOf(store, id);
  if (item !== undefined && store.locks.isTaken(lockOn.item(id))) return beside(store, item);
  if (item === undefined || (!whole && isUnchanged(store, item))) return item;
  await look(store, id);
  return itemOf(store, id);
};

// What waits for the operator, or was just granted, only the turn knows: then it is what was last read.
const beside = (store: Store, item: Item): Item => {
  const { layout } = store;
  const { id, dir, files: before, seen, held } = item;
  if (isGateShut(gateOf(store)) || held !== undefined) return item;
  if (standingOf(store, item) === 'gone') return item;
  const last = looks.get(before);
  const files = readItem(layout.root, dir, { id, files: last?.files ?? before, seen });
  if (files === undefined || sameFiles(files, before)) return item;
  if (last?.item.dir === dir && sameFiles(files, last.files)) return last.item;
  const looked = { ...item, files: withIds(files), answer: undefined };
  looks.set(before, { files, item: looked });
  return looked;
};

// What was found beside what was last read: many who read at once do not parse it anew.
const looks = new WeakMap<ItemFiles, { files: ItemFiles; item: Item }>();

// A proof that has no id on disk yet would have another one the next time.
const withIds = (files: ItemFiles): ItemFiles => ({
  ...files,
  proofs: new Map([...files.proofs].filter(([, { value }]) => value?.adopt?.id === undefined)),
});

/** The item as it is on disk this moment, `patient` as above. Costs one lstat when case.md did not change. */
export const freshItem = async (
  store: Store,
  id: string,
  patient = false,
): Promise<Item | undefined> => {
  const item = itemOf(store, id);
  if (item === undefined || isUnchanged(store, item)) return item;
  await reconcile(store, id, patient);
  return itemOf(store, id);
};

const isUnchanged = ({ layout }: Store, { dir, files }: Item): boolean => {
  // What keeps it from being looked at is found, and told, by whoever reads it.
  const stats = orElse(() => statsAt(caseFile(join(layout.root, dir))), undefined);
  return stats !== undefined && isSame(files.case, stats);
};

/**
 * The same, for who only shows the item: resolves once it was looked at, and does not wait until the disk has what is told
 * of it, unless more is written for it to be whole. Rejects with what goes wrong before.
 */
const look = (store: Store, id: string): Promise<void> =>
  new Promise((resolve, reject) => {
    let isShown = false;
    const turn = store.locks.take(lockOn.item(id), async () => {
      const item = itemOf(store, id);
      if (item === undefined) return;
      const telling = reconcileInTurn(store, item);
      isShown = fixesOf(store, item).length === 0;
      if (isShown) resolve();
      await telling;
    });
    turn.then(resolve, (error) => {
      if (isShown) store.report(error, `telling what changed in ${id}`);
      else reject(error);
    });
  });
