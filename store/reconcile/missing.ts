import { join } from 'node:path';
import { lockOn } from '../base/locks.ts';
import { withProblem } from '../front-matter/entry.ts';
import { standing, statsAt } from '../fs/plain-path.ts';
import type { JournalEntry, ToldState } from '../journal/journal-state.ts';
import { caseFile } from '../layout.ts';
import type { Store } from '../store.ts';
import { eventsBetween } from './compare.ts';
import { discover } from './discover.ts';
import { type Item, newItem } from './item.ts';
import { allItems, announce, dropItem, itemOf, itemsOf, putItem, standingOf } from './items.ts';
import { lastTold } from './read-item.ts';
import { isAway, missingCase, reconcileInTurn } from './reconcile.ts';
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

/**
 * Decides about Work items that the journal knows and a comparison did not find: those of a former life, and those whose
 * end could not be told. Deleted are those whose directory is gone; one that stands without its case.md, or that nobody
 * may look into, is what it last was, with a fault to mend.
 */
export const reviveAbsent = async (store: Store): Promise<void> => {
  const isAbsent = (id: string): boolean => itemOf(store, id) === undefined;
  const absent: string[] = [];
  for (const id of store.journal.seen.keys()) if (isAbsent(id)) absent.push(id);
  const decide = async (id: string): Promise<void> => {
    const seen = store.journal.seen.get(id);
    if (seen !== undefined && isAbsent(id) && !isAway(store)) await revive(store, id, seen);
  };
  await Promise.all(absent.map((id) => store.locks.take(lockOn.item(id), () => decide(id))));
};

const revive = async (store: Store, id: string, seen: ToldState): Promise<void> => {
  if (isFaulty(store, seen.dir)) {
    const item = revived(id, seen);
    putItem(store, item);
    await reconcileInTurn(store, item);
  } else if (store.readOnly === undefined) {
    const events = eventsBetween(id, seen, undefined, store.clock());
    const kept = lastSeen(store, id, seen);
    await store.journal.append({ seen: { id, state: null }, ...kept, events });
  }
};

const isFaulty = (store: Store, dir: string): boolean => {
  const { root } = store.layout;
  const path = join(root, dir);
  const at = standing(root, path);
  if (at !== 'there') return at === 'closed';
  if (statsAt(caseFile(path)) !== undefined) return false;
  // It is a folder of others by now.
  return !allItems(store).some((other) => other.dir.startsWith(`${dir}/`));
};

const revived = (id: string, seen: ToldState): Item => {
  const known = { signature: '', sha: seen.case.sha, written_at: 0, problem: undefined };
  const entry = withProblem({ ...known, value: lastTold(seen) }, missingCase());
  return { ...newItem(id, seen.dir, entry), seen };
};
