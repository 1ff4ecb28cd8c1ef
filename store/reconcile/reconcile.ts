import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { lockOn } from '../base/locks.ts';
import { inDoubt, saysSame, withProblem } from '../front-matter/entry.ts';
import { Problem } from '../front-matter/problem.ts';
import { hasCode } from '../fs/durable.ts';
import { isDirectoryItself, type Standing, statsAt } from '../fs/plain-path.ts';
import { isGateShut } from '../held/held.ts';
import { gateOf } from '../held/held-file.ts';
import type { ToldState } from '../journal/journal-state.ts';
import { sessionLockFile } from '../layout.ts';
import { trustCommandFor } from '../settings/trust/told.ts';
import { attentionOf, type Store } from '../store.ts';
import { eventsBetween } from './compare.ts';
import { settle } from './fixes.ts';
import { holdBack } from './held-changes.ts';
import { type Item, seenOf } from './item.ts';
import { announce, itemOf, itemsOf, standingOf, touch } from './items.ts';
import { hasNewDoubt, type ItemFiles, readItem, sameFiles } from './read-item.ts';

/**
 * Read, compare with what was last told, tell the difference. API writes call it after their own write, watcher hints,
 * sweeps and the start call the same: so a change makes its events once, whoever made it.
 */
export const reconcile = (store: Store, id: string, patient = false): Promise<void> =>
  store.locks.take(lockOn.item(id), async () => {
    const item = itemOf(store, id);
    if (item !== undefined) await reconcileInTurn(store, item, patient);
  });

// Adoption, then what follows from it: more rounds than that mean that somebody else writes the same file over and over.
const ROUNDS = 5;

/**
 * The same, for whoever holds the item's turn already. `patient` is who only follows what others write: a file that may
 * be half saved is looked at again before it counts as a problem. Who asks or writes is told at once. Answers how the
 * directory stood at the last look.
 */
export const reconcileInTurn = (store: Store, item: Item, patient = false): Promise<Standing> =>
  rounds(store, item, { patient, tell });

/**
 * The same after a write of this call, which is in place: where the journal cannot take the events of it, they are told
 * at the next comparison, and the write is answered all the same.
 */
export const reconcileWritten = (store: Store, item: Item): Promise<Standing> =>
  rounds(store, item, { patient: false, tell: tellSoon });

interface Round {
  patient: boolean;
  /** Answers false where nothing could be told now. */
  tell: (store: Store, item: Item) => Promise<boolean>;
}

const rounds = async (store: Store, item: Item, { patient, tell }: Round): Promise<Standing> => {
  let at: Standing = 'there';
  for (let round = 0; round < ROUNDS; round += 1) {
    at = readAgain(store, item, patient);
    if (at === 'gone') {
      expectBack(store, item);
      break;
    }
    judgeAgain(store, item);
    // The journal and the files are another process's now. What changes meanwhile is told when they are ours again.
    if (store.readOnly !== undefined || !(await tell(store, item))) break;
    if (await settle(store, item)) continue;
    if (hasVanished(item)) expectBack(store, item);
    break;
  }
  return at;
};

/** Sees what of an item's files holds, and what waits for the operator. */
const judgeAgain = (store: Store, item: Item): void => {
  const closed = isGateShut(gateOf(store));
  if (!closed && item.held === undefined && item.seen?.held === undefined) return;
  const held = holdBack(item, {
    closed,
    at: store.clock(),
    trust: trustCommandFor(store.layout),
  });
  if (isDeepStrictEqual(held, item.held)) return;
  item.held = held;
  touch(store, item);
  announce(store, item.id);
};

const hasVanished = ({ files: { proofs, webhooks, medias } }: Item): boolean =>
  [...proofs.values(), ...webhooks.values(), ...medias.values()].some(
    ({ gone_at }) => gone_at !== undefined,
  );

// The directory is gone, or a file in it. It may have been moved, or git is not done yet: whether it was deleted is
// decided later.
const expectBack = (store: Store, { id, dir }: Item): void => {
  // What comes back has to be watched anew.
  attentionOf(store).watch(dir, 'item');
  isAway(store);
  const { missing } = itemsOf(store);
  if (missing.has(id)) return;
  missing.add(id);
  attentionOf(store).lookLater();
};

/** Whether the whole workspace is not there; when that was last seen is kept: it may come back piece by piece. */
export const isAway = (store: Store): boolean => {
  if (isDirectoryItself(store.layout.root)) return false;
  itemsOf(store).away_at = performance.now();
  return true;
};

const readAgain = (store: Store, item: Item, patient: boolean): Standing => {
  const { layout } = store;
  const wasFreed = noteLock(store, item);
  const at = standingOf(store, item);
  if (at === 'gone') return at;
  if (wasFreed) announce(store, item.id);
  const { id, files: before, seen } = item;
  const files =
    readItem(layout.root, item.dir, { id, files: before, seen, patient }) ??
    withoutCase(before, patient);
  itemsOf(store).missing.delete(id);
  if (sameFiles(files, before)) return at;
  if (hasNewDoubt(files, before)) attentionOf(store).lookAgain?.(item.dir);
  item.files = files;
  // case.md was young and is only known for sure now: the answers that were made of it stay.
  const isKnown = sameFiles({ ...files, case: before.case }, before);
  if (isKnown && saysSame(files.case, before.case)) return at;
  touch(store, item);
  announce(store, item.id);
  return at;
};

/**
 * Sees whether a session lock is there; true when it was held and is not any more. It makes no event, so that nothing
 * else is compared for it.
 */
export const noteLock = (store: Store, { id, dir }: Item): boolean => {
  const { locked } = itemsOf(store);
  try {
    const isThere = statsAt(sessionLockFile(join(store.layout.root, dir))) !== undefined;
    if (!isThere) return locked.delete(id);
    locked.add(id);
  } catch (error) {
    // Who may not look cannot say that it is free: it is what it was.
    if (!hasCode(error, 'EACCES')) throw error;
  }
  return false;
};

// The directory stands, case.md does not: a fault to mend, not a deletion. Editors that save by renaming leave such a gap.
const withoutCase = (files: ItemFiles, patient: boolean): ItemFiles => {
  if (files.case.problem?.code === 'missing_file') return files;
  const entry = patient ? inDoubt(files.case) : undefined;
  if (entry === files.case) return files;
  return { ...files, case: entry ?? withProblem(files.case, missingCase()) };
};

export const missingCase = (): Problem =>
  new Problem('missing_file', 'case.md is gone. Put it back, or remove the whole directory');

/** Tells what is there now and was not told yet. */
const tell = async (store: Store, item: Item): Promise<boolean> => {
  const { files } = item;
  const now = seenOf(item);
  if (!isDeepStrictEqual(item.seen, now)) await append(store, item, now);
  item.told = files;
  item.granted = undefined;
  return true;
};

/** The same of what this call wrote; false, and reported, where the next comparison has to tell it. */
export const tellSoon = (store: Store, item: Item): Promise<boolean> =>
  tell(store, item).catch((error: unknown) => {
    store.report(error, `telling of ${item.dir}, which is told at the next comparison`);
    announce(store, item.id);
    return false;
  });

const append = async (store: Store, item: Item, now: ToldState): Promise<void> => {
  const { id, seen } = item;
  const { clock, journal } = store;
  const isOld = seen === undefined && itemsOf(store).unknown;
  const gone = seen === undefined ? journal.gone.get(id) : undefined;
  const events = isOld ? [] : eventsBetween(id, seen, now, clock());
  // It is there again: what changed while it was not is news as well.
  if (gone !== undefined) events.push(...eventsBetween(id, gone.seen, now, clock()));
  const back = gone && { gone: { id, state: null } };
  await journal.append({ seen: { id, state: now }, ...back, events });
  item.seen = now;
  announce(store, item.id);
};
