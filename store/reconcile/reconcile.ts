import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { hasCode } from '../base/attempt.ts';
import { lockOn } from '../base/locks.ts';
import { trustCommandFor } from '../base/text.ts';
import { inDoubt, isSameContent, withProblem } from '../front-matter/entry.ts';
import { Problem } from '../front-matter/problem.ts';
import { isDirectoryItself, type Standing, statsAt } from '../fs/plain-path.ts';
import { isGateShut } from '../held/held.ts';
import { gateOf } from '../held/held-file.ts';
import type { ToldState } from '../journal/journal-state.ts';
import { sessionLockFile } from '../layout.ts';
import { type Store, watchRequestsOf } from '../store.ts';
import { eventsBetween } from './compare.ts';
import { applyFixes } from './fixes.ts';
import { holdChanges } from './held-changes.ts';
import { type Item, stateToJournal } from './item.ts';
import {
  directoryStatusOf,
  invalidate,
  itemOf,
  itemsOf,
  notifyItemChanged,
  putFiles,
} from './items.ts';
import { hasNewDoubt, type ItemFiles, readItemFiles, sameFiles } from './read-item.ts';

/**
 * Reads a Work item's files, compares them with the state in the journal, and journals the difference with its events.
 * API writes, watcher hints, sweeps and the start all call this, so a change makes its events once, whoever made it.
 */
export const reconcile = (store: Store, id: string, patient = false): Promise<void> =>
  store.locks.take(lockOn.item(id), async () => {
    const item = itemOf(store, id);
    if (item !== undefined) await reconcileLocked(store, item, patient);
  });

// One round completes a hand-made file, the next applies what follows from it. More rounds mean that another program
// keeps writing the same file.
const ROUNDS = 5;

/**
 * The same under the lock of the Work item, which the caller holds. With `patient`, a file that may be half saved is read
 * again before it counts as a problem: for hints and sweeps, not for requests. Returns the status of the directory.
 */
export const reconcileLocked = (store: Store, item: Item, patient = false): Promise<Standing> =>
  runRounds(store, item, { patient, journal: journalChanges });

/** The same for a Work item whose files the caller has just read, under its lock. */
export const reconcileRead = (store: Store, item: Item): Promise<Standing> =>
  runRounds(store, item, { patient: false, isRead: true, journal: journalChanges });

/**
 * The same after a write that is already on disk. If the journal cannot take its events, the next comparison journals
 * them, and the write succeeds.
 */
export const reconcileWritten = (store: Store, item: Item): Promise<Standing> =>
  runRounds(store, item, { patient: false, journal: journalOrDefer });

interface RoundOptions {
  patient: boolean;
  /** The caller has just read the files. */
  isRead?: boolean;
  /** Returns false if the journal could not be written. */
  journal: (store: Store, item: Item) => Promise<boolean>;
}

const runRounds = async (
  store: Store,
  item: Item,
  { patient, isRead = false, journal }: RoundOptions,
): Promise<Standing> => {
  let at: Standing = isRead ? 'there' : rereadFiles(store, item, patient);
  for (let round = 0; round < ROUNDS && (await settleItem(store, item, at, journal)); round += 1)
    at = rereadFiles(store, item, patient);
  return at;
};

/** Journals what was read, and writes what follows from it. True if the files have to be read again. */
const settleItem = async (
  store: Store,
  item: Item,
  at: Standing,
  journal: RoundOptions['journal'],
): Promise<boolean> => {
  if (at !== 'gone') {
    updateHeldChanges(store, item);
    // Without the workspace lock, nothing is written. The changes are journaled once the lock is held again.
    if (store.readOnly !== undefined || !(await journal(store, item))) return false;
    if (await applyFixes(store, item)) return true;
  }
  if (at === 'gone' || hasVanishedFile(item)) markMissing(store, item);
  return false;
};

const rereadFiles = (store: Store, item: Item, patient: boolean): Standing => {
  const { layout } = store;
  const wasUnlocked = updateLockState(store, item);
  const at = directoryStatusOf(store, item);
  if (at === 'gone') return at;
  if (wasUnlocked) notifyItemChanged(store, item.id);
  const { id, files: before, seen } = item;
  const files =
    readItemFiles(layout.root, item.dir, { id, files: before, seen, patient }) ??
    withMissingCase(before, patient);
  itemsOf(store).missing.delete(id);
  if (sameFiles(files, before)) return at;
  if (hasNewDoubt(files, before)) watchRequestsOf(store).scheduleReread?.(item.dir);
  putFiles(store, item, files);
  // case.md was too young to be trusted and turned out to be unchanged: responses made from it stay valid.
  const isKnown = sameFiles({ ...files, case: before.case }, before);
  if (isKnown && isSameContent(files.case, before.case)) return at;
  invalidate(store, item);
  notifyItemChanged(store, item.id);
  return at;
};

// The directory is there without its case.md: a problem, not a deletion. Editors that save by renaming leave such a gap.
const withMissingCase = (files: ItemFiles, patient: boolean): ItemFiles => {
  if (files.case.problem?.code === 'missing_file') return files;
  const entry = patient ? inDoubt(files.case) : undefined;
  if (entry === files.case) return files;
  return { ...files, case: entry ?? withProblem(files.case, missingCaseProblem()) };
};

export const missingCaseProblem = (): Problem =>
  new Problem('missing_file', 'case.md is missing. Restore it, or remove the whole directory');

/**
 * Records whether the Work item has a session lock; returns true if one was there before and is gone now. A lock makes no
 * event, so nothing else is compared.
 */
export const updateLockState = (store: Store, { id, dir }: Item): boolean => {
  const { locked } = itemsOf(store);
  try {
    const isThere = statsAt(sessionLockFile(join(store.layout.root, dir))) !== undefined;
    if (!isThere) return locked.delete(id);
    locked.add(id);
  } catch (error) {
    // Without permission to look, the last known state stays.
    if (!hasCode(error, 'EACCES')) throw error;
  }
  return false;
};

/** Decides which changes by file are held until the operator confirms them. */
const updateHeldChanges = (store: Store, item: Item): void => {
  const closed = isGateShut(gateOf(store));
  if (!closed && item.held === undefined && item.seen?.held === undefined) return;
  const held = holdChanges(item, {
    closed,
    at: store.clock(),
    trust: trustCommandFor(store.layout),
  });
  if (isDeepStrictEqual(held, item.held)) return;
  item.held = held;
  invalidate(store, item);
  notifyItemChanged(store, item.id);
};

const hasVanishedFile = ({ files: { proofs, webhooks, medias } }: Item): boolean =>
  [...proofs.values(), ...webhooks.values(), ...medias.values()].some(
    ({ gone_at }) => gone_at !== undefined,
  );

// A missing directory or file may have been moved, or git is still at work: `resolveMissing` decides after the grace period.
const markMissing = (store: Store, { id, dir }: Item): void => {
  // A directory that comes back needs a new watcher.
  watchRequestsOf(store).watch(dir, 'item');
  isWorkspaceAway(store);
  const { missing } = itemsOf(store);
  if (missing.has(id)) return;
  missing.add(id);
  watchRequestsOf(store).scheduleMissingDecision();
};

/** Whether the whole workspace is missing. Notes when, since it may come back piece by piece. */
export const isWorkspaceAway = (store: Store): boolean => {
  if (isDirectoryItself(store.layout.root)) return false;
  itemsOf(store).away_at = performance.now();
  return true;
};

/** Journals what differs from the journaled state, with its events. */
const journalChanges = async (store: Store, item: Item): Promise<boolean> => {
  const { files } = item;
  const now = stateToJournal(item, isAtWork(store, item));
  if (!isDeepStrictEqual(item.seen, now)) await appendState(store, item, now);
  item.journaledFiles = files;
  item.accepted = undefined;
  return true;
};

// The journal knows the session until its end is journaled, which comes after the state of the Work item.
const isAtWork = (store: Store, { id }: Item): boolean =>
  itemsOf(store).locked.has(id) ||
  [...store.journal.runs.values()].some(({ case_id }) => case_id === id);

/** The same; returns false, and reports the error, if the next comparison has to journal the changes. */
export const journalOrDefer = (store: Store, item: Item): Promise<boolean> =>
  journalChanges(store, item).catch((error: unknown) => {
    store.report(error, `journaling changes of ${item.dir}; the next comparison retries`);
    notifyItemChanged(store, item.id);
    return false;
  });

const appendState = async (store: Store, item: Item, now: ToldState): Promise<void> => {
  const { id, seen } = item;
  const { clock, journal } = store;
  const isBaseline = seen === undefined && itemsOf(store).unknown;
  const gone = seen === undefined ? journal.gone.get(id) : undefined;
  const events = isBaseline ? [] : eventsBetween(id, seen, now, clock());
  // A Work item that is back also reports what changed while it was gone.
  if (gone !== undefined) events.push(...eventsBetween(id, gone.seen, now, clock()));
  const back = gone && { gone: { id, state: null } };
  await journal.append({ seen: { id, state: now }, ...back, events });
  item.seen = now;
  notifyItemChanged(store, item.id);
};
