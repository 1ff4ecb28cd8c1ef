import { lockOn } from '../base/locks.ts';
import type { JournalEntry, ToldState } from '../journal/journal-state.ts';
import type { Store } from '../store.ts';
import { eventsBetween } from './compare.ts';
import { discover } from './discover.ts';
import type { Item } from './item.ts';
import { announce, dropItem, itemOf } from './items.ts';
import { isAway, reconcileInTurn, standingOf } from './reconcile.ts';
import { itemsOf } from './state.ts';
import { sweepWorkspace } from './sweep.ts';

/**
 * Decides about Work items whose directory is not where it was: found elsewhere they moved, and only what is nowhere
 * after the grace period is deleted.
 */
export const decideMissing = async (store: Store): Promise<void> => {
  const { missing } = itemsOf(store);
  const ids = [...missing];
  // A disk that is not there for a while, a workspace that is put elsewhere: nobody deleted anything.
  if (isAway(store) || store.readOnly !== undefined) return missing.clear();
  // It may be where another one was.
  await (ids.some((id) => isGone(store, id)) ? sweepWorkspace(store) : discover(store));
  await Promise.all(ids.map((id) => store.locks.take(lockOn.item(id), () => decide(store, id))));
};

const isGone = (store: Store, id: string): boolean => {
  const item = itemOf(store, id);
  return item !== undefined && standingOf(store, item) === 'gone';
};

const decide = async (store: Store, id: string): Promise<void> => {
  const item = itemOf(store, id);
  if (item === undefined || !itemsOf(store).missing.delete(id)) return;
  // In this moment the whole workspace may have gone.
  if (isGone(store, id) && !isAway(store))
    await forgetItem(store, item, lastSeen(store, id, item.seen));
  else await reconcileInTurn(store, item);
};

/** What is kept of one that somebody took away by hand: it may come back. */
export const lastSeen = (
  { clock }: Store,
  id: string,
  seen: ToldState | undefined,
): Pick<JournalEntry, 'gone'> =>
  seen === undefined ? {} : { gone: { id, state: { seen, at: clock().toISOString() } } };

/**
 * Takes a Work item that is no longer on disk out of the index and the journal, and tells that it is gone: where the
 * journal cannot take it, `reviveAbsent` does after the next comparison.
 */
export const forgetItem = async (
  store: Store,
  item: Item,
  kept: Pick<JournalEntry, 'gone'> = {},
): Promise<void> => {
  const { id, seen } = item;
  dropItem(store, item);
  const events = eventsBetween(id, seen, undefined, store.clock());
  try {
    await store.journal.append({ seen: { id, state: null }, ...kept, events });
  } catch (error) {
    store.report(error, `telling that ${item.dir} is gone, which is told at the next comparison`);
  }
  announce(store, id);
};
