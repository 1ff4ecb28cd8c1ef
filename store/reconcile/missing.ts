import { join } from 'node:path';
import { lockOn } from '../base/locks.ts';
import { withProblem } from '../front-matter/entry.ts';
import { statsAt } from '../fs/plain-path.ts';
import type { JournalEntry, ToldState } from '../journal/journal-state.ts';
import { caseFile } from '../layout.ts';
import type { Store } from '../store.ts';
import { eventsBetween } from './compare.ts';
import { discover } from './discover.ts';
import type { Item } from './item.ts';
import {
  allItems,
  directoryStatusOf,
  dropItem,
  itemOf,
  itemsOf,
  notifyItemChanged,
  putItem,
} from './items.ts';
import { itemFromJournal } from './journaled.ts';
import { isWorkspaceAway, missingCaseProblem, reconcileLocked } from './reconcile.ts';
import { sweepWorkspace } from './sweep.ts';
import { standingOf } from './walk.ts';

/**
 * Decides about Work items whose directory is missing, after the grace period: one that is found elsewhere was moved, any
 * other was deleted.
 */
export const resolveMissing = async (store: Store): Promise<void> => {
  const { missing } = itemsOf(store);
  const ids = [...missing];
  // The whole workspace is missing, as with an unmounted disk: nothing was deleted.
  if (isWorkspaceAway(store) || store.readOnly !== undefined) return missing.clear();
  // A gone directory may have taken the place of another one, which only a sweep finds.
  await (ids.some((id) => isGone(store, id)) ? sweepWorkspace(store) : discover(store));
  await Promise.all(
    ids.map((id) => store.locks.take(lockOn.item(id), () => resolveOne(store, id))),
  );
};

const isGone = (store: Store, id: string): boolean => {
  const item = itemOf(store, id);
  return item !== undefined && directoryStatusOf(store, item) === 'gone';
};

const resolveOne = async (store: Store, id: string): Promise<void> => {
  const item = itemOf(store, id);
  if (item === undefined || !itemsOf(store).missing.delete(id)) return;
  // The workspace may have disappeared since.
  if (isGone(store, id) && !isWorkspaceAway(store))
    await removeFromIndex(store, item, goneEntry(store, id, item.seen));
  else await reconcileLocked(store, item);
};

/** The last journaled state of a directory that was removed by hand, kept in case it comes back. */
const goneEntry = (
  { clock }: Store,
  id: string,
  seen: ToldState | undefined,
): Pick<JournalEntry, 'gone'> =>
  seen === undefined ? {} : { gone: { id, state: { seen, at: clock().toISOString() } } };

/**
 * Removes a Work item that is no longer on disk from the index and the journal, and journals its deletion. If that fails,
 * `resolveAbsent` does it after the next comparison.
 */
export const removeFromIndex = async (
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
    store.report(error, `journaling the removal of ${item.dir}; the next comparison retries`);
  }
  notifyItemChanged(store, id);
};

/**
 * Decides about Work items that are in the journal and were not found on disk. If the directory is gone, the Work item was
 * deleted. If only its case.md is missing or unreadable, the journaled state stays, with a problem.
 */
export const resolveAbsent = async (store: Store): Promise<void> => {
  const isAbsent = (id: string): boolean => itemOf(store, id) === undefined;
  const absent: string[] = [];
  for (const id of store.journal.seen.keys()) if (isAbsent(id)) absent.push(id);
  const resolve = async (id: string): Promise<void> => {
    const seen = store.journal.seen.get(id);
    if (seen !== undefined && isAbsent(id) && !isWorkspaceAway(store))
      await resolveJournaled(store, id, seen);
  };
  await Promise.all(absent.map((id) => store.locks.take(lockOn.item(id), () => resolve(id))));
};

const resolveJournaled = async (store: Store, id: string, seen: ToldState): Promise<void> => {
  if (hasUnreadableCase(store, seen.dir)) {
    const item = itemFromJournal(id, seen);
    item.files = { ...item.files, case: withProblem(item.files.case, missingCaseProblem()) };
    putItem(store, item);
    await reconcileLocked(store, item);
  } else if (store.readOnly === undefined) {
    const events = eventsBetween(id, seen, undefined, store.clock());
    const kept = goneEntry(store, id, seen);
    await store.journal.append({ seen: { id, state: null }, ...kept, events });
  }
};

const hasUnreadableCase = (store: Store, dir: string): boolean => {
  const { root } = store.layout;
  const at = standingOf(root, dir);
  if (at !== 'there') return at === 'closed';
  if (statsAt(caseFile(join(root, dir))) !== undefined) return false;
  // With Work items below it, the directory is a plain folder now.
  return !allItems(store).some((other) => other.dir.startsWith(`${dir}/`));
};
