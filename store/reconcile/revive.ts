import { join } from 'node:path';
import { lockOn } from '../base/locks.ts';
import { withProblem } from '../front-matter/entry.ts';
import { standing, statsAt } from '../fs/plain-path.ts';
import type { ToldState } from '../journal/journal-state.ts';
import { caseFile } from '../layout.ts';
import type { Store } from '../store.ts';
import { eventsBetween } from './compare.ts';
import { type Item, newItem } from './item.ts';
import { lastTold } from './item-files.ts';
import { allItems, itemOf, putItem } from './items.ts';
import { lastSeen } from './missing.ts';
import { isAway, missingCase, reconcileInTurn } from './reconcile.ts';

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
