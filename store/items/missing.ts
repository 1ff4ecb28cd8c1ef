import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { standing } from '../disk/plain-path.ts';
import { announce, type Store } from '../store.ts';
import { compare } from './compare.ts';
import { discover } from './discover.ts';
import type { Item } from './item.ts';
import { dropItem } from './items.ts';
import { reconcileInTurn } from './reconcile.ts';
import { sweep } from './sweep.ts';

/**
 * Decides about Work items whose directory is not where it was: found elsewhere they moved, and only what is nowhere
 * after the grace period is deleted.
 */
export const decideMissing = async (store: Store): Promise<void> => {
  const ids = [...store.missing];
  // A disk that is not there for a while, a workspace that is put elsewhere: nobody deleted anything.
  if (!existsSync(store.layout.root)) return store.missing.clear();
  // It may be where another one was.
  await (ids.some((id) => isGone(store, id)) ? sweep(store) : discover(store));
  await Promise.all(ids.map((id) => store.turns.take(id, () => decide(store, id))));
};

const isGone = ({ layout: { root }, items }: Store, id: string): boolean => {
  const item = items.byId.get(id);
  return item !== undefined && standing(root, join(root, item.dir)) === 'gone';
};

const decide = async (store: Store, id: string): Promise<void> => {
  const item = store.items.byId.get(id);
  if (item === undefined || !store.missing.delete(id)) return;
  if (isGone(store, id)) await forget(store, item);
  else await reconcileInTurn(store, item);
};

/** Takes a Work item that is no longer on disk out of the index and the journal, and tells that it is gone. */
export const forget = async (store: Store, item: Item): Promise<void> => {
  const { id, seen } = item;
  dropItem(store.items, item);
  const events = compare(id, seen, undefined, store.clock());
  await store.journal.append({ seen: { id, state: null }, events });
  announce(store, id);
};
