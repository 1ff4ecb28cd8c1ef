import { join } from 'node:path';
import { inSlices } from '../../base/slices.ts';
import type { Item } from '../items/item.ts';
import { pullFile } from '../layout.ts';
import { PullMatter } from '../records/pull-request.ts';
import type { Store } from '../store.ts';
import { type ReadEntry, readEntry } from '../text/entry.ts';
import { parserOf } from '../text/parse.ts';

/**
 * The records of all pull requests, as pr/pr.md said when it was last looked at: after the start, at every hint, at every
 * sweep and after each write. What is wrong with one is told elsewhere.
 */
export interface PullIndex {
  /** Whether all Work items were looked at since the start. */
  complete: boolean;
  readonly byItem: Map<string, ReadEntry<PullMatter>>;
}

export const createPullIndex = (): PullIndex => ({ complete: false, byItem: new Map() });

const parse = parserOf(PullMatter);

/** Looks at pr/pr.md of a Work item. */
export const notePull = ({ pulls, layout }: Store, { id, dir }: Item): void => {
  const path = pullFile(join(layout.root, dir));
  const entry = readEntry(path, { before: pulls.byItem.get(id), parse });
  if (entry === undefined) pulls.byItem.delete(id);
  else pulls.byItem.set(id, entry);
};

export const dropPull = ({ pulls }: Store, id: string): void => {
  pulls.byItem.delete(id);
};

/** The Work items whose pull request is such a one. Looks at memory only, but for the first time. */
export const pullsWhere = async (
  store: Store,
  isIt: (pull: PullMatter) => boolean,
): Promise<string[]> => {
  if (!store.pulls.complete) {
    await inSlices([...store.items.byId.values()], (item) => notePull(store, item));
    store.pulls.complete = true;
  }
  return [...store.pulls.byItem].flatMap(([id, { value }]) =>
    value !== undefined && store.items.byId.has(id) && isIt(value) ? [id] : [],
  );
};
