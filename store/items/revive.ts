import { join } from 'node:path';
import { standing, statsAt } from '../disk/plain-path.ts';
import { eventsBetween } from '../item/compare.ts';
import { type Item, newItem } from '../item/item.ts';
import { lastTold } from '../item/item-files.ts';
import type { ToldState } from '../journal/journal-state.ts';
import { caseFile } from '../layout.ts';
import type { Store } from '../store.ts';
import { withProblem } from '../text/entry.ts';
import { allItems, itemOf, putItem } from './items.ts';
import { lastSeen } from './missing.ts';
import { missingCase, reconcile } from './reconcile.ts';

/**
 * Decides about Work items that the journal knows and the first look did not find. Deleted are those whose directory is
 * gone; one that stands without its case.md, or that nobody may look into, is what it last was, with a fault to mend.
 */
export const reviveAbsent = async (store: Store): Promise<void> => {
  const { journal } = store;
  const absent = [...journal.seen].filter(([id]) => itemOf(store, id) === undefined);
  const work = absent.map(async ([id, seen]) => {
    if (!isFaulty(store, seen.dir)) {
      const events = eventsBetween(id, seen, undefined, store.clock());
      const kept = lastSeen(store, id, seen);
      return void (await journal.append({ seen: { id, state: null }, ...kept, events }));
    }
    putItem(store, revived(id, seen));
    await reconcile(store, id);
  });
  await Promise.all(work);
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
