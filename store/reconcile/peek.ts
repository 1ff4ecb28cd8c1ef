import { lockOn } from '../base/locks.ts';
import { isGateShut } from '../held/held.ts';
import { gateOf } from '../held/held-file.ts';
import type { Store } from '../store.ts';
import type { Item } from './item.ts';
import { type ItemFiles, readItem, sameFiles } from './item-files.ts';
import { itemOf } from './items.ts';
import { isUnchanged, look, standingOf } from './reconcile.ts';

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
