import { inSlices } from '../../base/slices.ts';
import type { Item } from '../items/item.ts';
import { dropLink, noteLink } from '../links/link-index.ts';
import { dropPull, notePull } from '../pulls/pull-index.ts';
import { notice, type Store } from '../store.ts';
import { problemsOfSessions, readSessionFiles, type SessionFiles } from './session-files.ts';

/**
 * Looks at the files of all Work items that no comparison needs, for what is wrong with them. After the start, and not
 * before it: of many sessions most have ended long ago. It gives way to requests every few milliseconds.
 */
export const lookCloser = async (store: Store): Promise<void> => {
  await inSlices([...store.items.byId.values()], (item) => lookCloserAt(store, item));
  const known = new Set([
    ...store.closer.keys(),
    ...store.links.byItem.keys(),
    ...store.pulls.byItem.keys(),
  ]);
  for (const id of known) if (!store.items.byId.has(id)) forget(store, id);
};

/** The same for one Work item. */
export const lookCloserAt = (store: Store, item: Item): void => {
  const { closer, items, layout, problems } = store;
  if (items.byId.get(item.id) !== item) return;
  const before = closer.get(item.id);
  const files = readSessionFiles(layout.root, item.dir, before);
  if (files.size === 0) closer.delete(item.id);
  else closer.set(item.id, files);
  problems.set(ownerOf(item.id), problemsOfSessions(item.dir, files));
  noteLink(store, item);
  notePull(store, item);
  if (isOther(before, files)) notice(store, item.id);
};

const isOther = (before: SessionFiles | undefined, now: SessionFiles): boolean =>
  (before?.size ?? 0) !== now.size || [...now].some(([file, entry]) => before?.get(file) !== entry);

const forget = (store: Store, id: string): void => {
  if (store.closer.delete(id)) store.problems.set(ownerOf(id), []);
  dropLink(store, id);
  dropPull(store, id);
};

const ownerOf = (id: string): string => `${id}/sessions`;
