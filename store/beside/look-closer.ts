import { inSlices } from '../../base/slices.ts';
import type { Item } from '../item/item.ts';
import { allItems, itemOf, notice } from '../items/items.ts';
import { dropLinks, noteLink } from '../links/link-index.ts';
import { dropPulls, notePull } from '../pulls/pull-index.ts';
import { remembered, type Store } from '../store.ts';
import { sameEntries } from '../text/entry.ts';
import { problemsOfSessions, readSessionFiles, type SessionFiles } from './session-files.ts';

/**
 * Looks at the files of all Work items that no comparison needs, for what is wrong with them. After the start, and not
 * before it: of many sessions most have ended long ago. It gives way to requests every few milliseconds.
 */
export const lookCloser = async (store: Store): Promise<void> => {
  await inSlices(allItems(store), (item) => lookCloserAt(store, item));
  for (const id of filesOf(store).keys()) if (itemOf(store, id) === undefined) forget(store, id);
  dropLinks(store);
  dropPulls(store);
};

/** What of each Work item was looked at for problems alone. */
export const filesOf = remembered(() => new Map<string, SessionFiles>());

/** The same for one Work item. */
export const lookCloserAt = (store: Store, item: Item): void => {
  if (itemOf(store, item.id) !== item) return;
  const known = filesOf(store);
  const before = known.get(item.id);
  const files = readSessionFiles(store.layout.root, item.dir, before);
  if (files.size === 0) known.delete(item.id);
  else known.set(item.id, files);
  store.problems.set(ownerOf(item.id), problemsOfSessions(item.dir, files));
  noteLink(store, item);
  notePull(store, item);
  if (!sameEntries(before ?? new Map(), files)) notice(store, item.id);
};

const forget = (store: Store, id: string): void => {
  filesOf(store).delete(id);
  store.problems.set(ownerOf(id), []);
};

const ownerOf = (id: string): string => `${id}/sessions`;
