import { lockOn } from '../base/locks.ts';
import { isSound, type ReadEntry } from '../front-matter/entry.ts';
import type { ToldState } from '../journal/journal-state.ts';
import type { Store } from '../store.ts';
import { canLookAgain } from './discover.ts';
import { type Item, newItem, onlyCase } from './item.ts';
import {
  directoryStatusOf,
  forgetItem,
  invalidate,
  itemOf,
  itemsOf,
  newVersion,
  putFiles,
} from './items.ts';
import type { CaseFile } from './read-case.ts';
import { caseFromJournal, readItemFiles } from './read-item.ts';
import { reconcileRead, updateLockState } from './reconcile.ts';

/**
 * Fills the index with the Work items of the journal, so that the daemon can answer before it has read the workspace. Each
 * is read before it is answered or changed: see `readJournaled`.
 */
export const indexJournaled = (store: Store): void => {
  const items = itemsOf(store);
  // After a crash, two may name one directory. Which of them it is, only its file tells.
  const contested = new Set<string>();
  for (const [id, seen] of store.journal.seen) {
    const other = items.byDir.get(seen.dir);
    if (other !== undefined) {
      contested.add(seen.dir);
      forgetItem(store, other);
    } else if (!contested.has(seen.dir)) place(store, itemFromJournal(id, seen));
  }
  items.ordered = undefined;
  items.version = newVersion();
};

const place = (store: Store, item: Item): void => {
  const { byId, byDir, unread } = itemsOf(store);
  byId.set(item.id, item);
  byDir.set(item.dir, item);
  unread.add(item.id);
};

/** A Work item as the journal has it, whose files are not read. */
export const itemFromJournal = (id: string, seen: ToldState): Item => {
  const entry: ReadEntry<CaseFile> = {
    signature: '',
    sha: seen.case.sha,
    written_at: 0,
    value: caseFromJournal(seen),
    problem: undefined,
  };
  return newItem({ id, dir: seen.dir, files: onlyCase(entry), seen });
};

/** Whether the files of a Work item were not read since the start. */
export const isUnread = (store: Store, id: string): boolean => itemsOf(store).unread.has(id);

/**
 * Reads a Work item of the journal for the first time, and compares it. False if its directory is not what the journal says:
 * gone, unreadable, or that of another Work item. Then it leaves the index, and the sweep finds out which it is.
 */
export const readJournaled = (
  store: Store,
  id: string,
  names?: readonly string[],
): Promise<boolean> =>
  store.locks.take(lockOn.item(id), async () => {
    const item = itemOf(store, id);
    if (item === undefined || !isUnread(store, id)) return item !== undefined;
    const files = readFirst(store, item, names);
    if (files === undefined || !isSound(files.case)) {
      forgetItem(store, item);
      return false;
    }
    putFiles(store, item, files);
    itemsOf(store).unread.delete(id);
    updateLockState(store, item);
    invalidate(store, item);
    itemsOf(store).met(store, item);
    await reconcileRead(store, item);
    return true;
  });

// The walk that found the names has seen the directory.
const readFirst = (store: Store, item: Item, names?: readonly string[]) => {
  const { id, dir, seen } = item;
  if (names === undefined && directoryStatusOf(store, item) !== 'there') return undefined;
  const patient = canLookAgain(store);
  return readItemFiles(store.layout.root, dir, { id, seen, patient, names });
};
