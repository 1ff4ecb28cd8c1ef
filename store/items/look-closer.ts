import { setImmediate as nextTurn } from 'node:timers/promises';
import { problemsOfSessions, readSessionFiles } from '../sessions/session-files.ts';
import type { Store } from '../store.ts';
import type { Item } from './item.ts';

const SLICE_MS = 4;

/**
 * Looks at the files of all Work items that no comparison needs, for what is wrong with them. After the start, and not
 * before it: of many sessions most have ended long ago. It gives way to requests every few milliseconds.
 */
export const lookCloser = async (store: Store): Promise<void> => {
  let since = performance.now();
  for (const item of [...store.items.byId.values()]) {
    lookCloserAt(store, item);
    if (performance.now() - since > SLICE_MS) {
      await nextTurn();
      since = performance.now();
    }
  }
  for (const id of [...store.closer.keys()]) if (!store.items.byId.has(id)) forget(store, id);
};

/** The same for one Work item. */
export const lookCloserAt = (store: Store, item: Item): void => {
  const { closer, items, layout, problems } = store;
  if (items.byId.get(item.id) !== item) return;
  const files = readSessionFiles(layout.root, item.dir, closer.get(item.id));
  if (files.size === 0) closer.delete(item.id);
  else closer.set(item.id, files);
  problems.set(ownerOf(item.id), problemsOfSessions(item.dir, files));
};

const forget = ({ closer, problems }: Store, id: string): void => {
  if (closer.delete(id)) problems.set(ownerOf(id), []);
};

const ownerOf = (id: string): string => `${id}/sessions`;
