import { join } from 'node:path';
import { inSlices } from '../base/async.ts';
import { type ReadEntry, readEntry } from '../front-matter/entry.ts';
import { parserOf } from '../front-matter/parse.ts';
import { pullFile } from '../layout.ts';
import type { Item } from '../reconcile/item.ts';
import { allItems, itemOf } from '../reconcile/items.ts';
import { PullMatter } from '../records/pull-request.ts';
import { remembered, type Store } from '../store.ts';

/**
 * The records of all pull requests, as pr/pr.md said when it was last looked at: after the start, at every hint, at every
 * sweep and after each write. What is wrong with one is told elsewhere.
 */
interface PullIndex {
  /** Whether all Work items were looked at since the start. */
  complete: boolean;
  readonly byItem: Map<string, ReadEntry<PullMatter>>;
}

const pullsOf = remembered((): PullIndex => ({ complete: false, byItem: new Map() }));

const parse = parserOf(PullMatter);

/** Looks at pr/pr.md of a Work item. */
export const notePull = (store: Store, { id, dir }: Item): void => {
  const { byItem } = pullsOf(store);
  const path = pullFile(join(store.layout.root, dir));
  const entry = readEntry(path, { before: byItem.get(id), parse });
  if (entry === undefined) byItem.delete(id);
  else byItem.set(id, entry);
};

/** Forgets those of Work items that are gone. */
export const dropPulls = (store: Store): void => {
  const { byItem } = pullsOf(store);
  for (const id of byItem.keys()) if (itemOf(store, id) === undefined) byItem.delete(id);
};

/** Whether a Work item has the record of one, as memory knows it. */
export const hasPull = (store: Store, id: string): boolean => pullsOf(store).byItem.has(id);

/** The Work items whose pull request is such a one. Looks at memory only, but for the first time. */
export const pullsWhere = async (
  store: Store,
  isIt: (pull: PullMatter) => boolean,
): Promise<string[]> => {
  if (!pullsOf(store).complete) {
    await inSlices(allItems(store), (item) => notePull(store, item));
    pullsOf(store).complete = true;
  }
  return [...pullsOf(store).byItem].flatMap(([id, { value }]) =>
    value !== undefined && itemOf(store, id) !== undefined && isIt(value) ? [id] : [],
  );
};
