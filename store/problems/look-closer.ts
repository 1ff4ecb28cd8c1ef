import { inSlices } from '../base/async.ts';
import { dropLinks, noteLink } from '../codehost/link-index.ts';
import { dropPulls, notePull } from '../codehost/pull-index.ts';
import { sameEntries } from '../front-matter/entry.ts';
import type { Item } from '../reconcile/item.ts';
import { allItems, itemOf, notice, wasUntold } from '../reconcile/items.ts';
import { forgetComments, tellComments } from '../sessions/comments.ts';
import { noteOpenSessions } from '../sessions/unconfirmed.ts';
import { remembered, type Store } from '../store.ts';
import { openSessionsIn, problemsOfSessions, readSessionFiles, type SessionFiles } from './sidecar-problems.ts';
import { saysOther } from './session-files.ts';

/**
 * Looks at the files of all Work items that no comparison needs, for what is wrong with them. After the start, and not
 * before it: of many sessions most have ended long ago. It gives way to requests every few milliseconds.
 */
export const lookCloser = async (store: Store): Promise<void> => {
  const passes = passesOf(store);
  const isBaseline = wasUntold(store) && !passes.done;
  await inSlices(allItems(store), (item) => lookCloserAt(store, item, isBaseline));
  passes.done = true;
  for (const id of filesOf(store).keys()) if (itemOf(store, id) === undefined) forget(store, id);
  dropLinks(store);
  dropPulls(store);
};

/** What of each Work item was looked at for problems alone. */
export const filesOf = remembered(() => new Map<string, SessionFiles>());

/** Whether all of them were looked at. What is found before is no news where nobody knows what was told. */
const passesOf = remembered(() => ({ done: false }));

/** The same for one Work item. */
export const lookCloserAt = (store: Store, item: Item, isBaseline = false): void => {
  if (itemOf(store, item.id) !== item) return;
  const known = filesOf(store);
  const before = known.get(item.id);
  const files = readSessionFiles(store.layout.root, item.dir, before);
  if (files.size === 0) known.delete(item.id);
  else known.set(item.id, files);
  store.problems.set(ownerOf(item.id), problemsOfSessions(item.dir, files));
  noteOpenSessions(store, item.id, openSessionsIn(files));
  noteLink(store, item);
  notePull(store, item);
  if (sameEntries(before ?? new Map(), files)) return;
  notice(store, item.id);
  if (saysOther(files, before)) follow(store, tellComments(store, item.id, isBaseline));
};

const follow = (store: Store, told: Promise<void>): void =>
  void told.catch((error) => store.report(error, 'telling what is said of plans'));

const forget = (store: Store, id: string): void => {
  filesOf(store).delete(id);
  noteOpenSessions(store, id);
  store.problems.set(ownerOf(id), []);
  follow(store, forgetComments(store, id));
};

const ownerOf = (id: string): string => `${id}/sessions`;
