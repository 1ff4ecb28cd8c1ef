import { orElse } from '../../../store/base/attempt.ts';
import { isRepeatedCall } from '../../../store/base/new-id.ts';
import type { Tree } from '../../../store/fs/worktree/folder.ts';
import { claimedWorktree, refreshClaims } from '../../../store/pending/claimed-worktrees.ts';
import { allItems, itemOf } from '../../../store/reconcile/items.ts';
import type { Worktree, WorktreeRecord } from '../../../store/records/worktree.ts';
import { readLock } from '../../../store/sessions/locks.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { readWorktree, saveWorktree } from '../../../store/worktrees/worktrees.ts';
import { notFound, ServiceError } from '../../errors.ts';
import type { Checkout } from '../../tools/git/run/git.ts';
import type { Traces } from '../../tools/process/process-tree.ts';
import type { Setups, WithSetups } from './needs.ts';

/** How processes of a run are found besides its marker: their working directory is in the worktree. */
export const tracesOf = (store: Store, caseId: string): Traces => {
  // An unreadable record is reported elsewhere; the marker still finds most processes.
  const dir = orElse(() => readWorktree(store, caseId)?.path, undefined);
  return dir === undefined ? {} : { dir };
};

/** The worktree directories of the other Work items. */
export const otherWorktrees = (store: Store, caseId: string): string[] =>
  allItems(store).flatMap(({ id }) => {
    if (id === caseId) return [];
    // An unreadable record is reported when that worktree is used.
    return orElse(() => readWorktree(store, id)?.path, undefined) ?? [];
  });

/** The file tree of a worktree, without git's directories and `.dossier/`. */
export const treeOf = (
  { layout }: Store,
  { path, git_dir, common_dir }: Checkout & { path: string },
): Tree => ({ layout, root: path, git_dir, closed: [git_dir, common_dir, layout.dossier] });

/** The record of a Work item's worktree. Throws 404 without the Work item or its worktree. */
export const getWorktree = (store: Store, caseId: string): WorktreeRecord => {
  const record = readWorktree(store, caseId);
  if (record !== undefined) return record;
  checkCase(store, caseId);
  throw new ServiceError(
    'not_found',
    `The Work item ${caseId} has no worktree. Create one with POST /api/worktrees.`,
  );
};

/** The worktree that an interrupted call created, if this call repeats it with the same Idempotency-Key. */
export const worktreeOfRepeatedCall = (store: Store, caseId: string): WorktreeRecord | undefined =>
  isRepeatedCall() && claimedWorktree(store.layout, caseId) === undefined
    ? readWorktree(store, caseId)
    : undefined;

/** Saves the record of a new worktree; replaces a record that another machine wrote. */
export const keepWorktree = async (store: Store, record: WorktreeRecord): Promise<void> => {
  await saveWorktree(store, record);
  refreshClaims(store);
};

/** Throws 409 `already_exists` if the Work item has a worktree on this machine. */
export const requireNoWorktree = (store: Store, caseId: string): void => {
  if (claimedWorktree(store.layout, caseId) !== undefined) return;
  const known = readWorktree(store, caseId);
  if (known === undefined) return;
  throw new ServiceError(
    'already_exists',
    `The Work item already has a worktree: ${known.path}. Use it, or delete it first.`,
  );
};

export const checkCase = (store: Store, caseId: string): void => {
  if (itemOf(store, caseId) === undefined) throw notFound('Work item', caseId);
};

/** The public part of a worktree record. */
export const worktreeOf = ({
  repository: _repository,
  git_dir: _git,
  common_dir: _common,
  setup_marker: _marker,
  turn_dir: _turn,
  dismissed_overlaps: _dismissed,
  ...worktree
}: WorktreeRecord): Worktree => worktree;

/** Throws 409 while a session or an operator holds the session lock, or a setup is running. */
export const requireUnlocked = (
  { setups, store }: WithSetups & WithStore,
  caseId: string,
): void => {
  requireNoSetup(setups, caseId);
  const lock = readLock(store, caseId);
  if (lock === undefined || !lock.locked) return;
  if (lock.holder?.kind === 'session') {
    throw new ServiceError(
      'session_active',
      'A session of the Work item has not ended: it is running, or its plan waits for you. Abort it or wait until it ends, then try again.',
    );
  }
  const { name = 'An operator', operation } = lock.holder ?? {};
  throw new ServiceError(
    'lock_held',
    operation === undefined
      ? `${name} holds the session lock. Release it, then try again.`
      : `${name} holds the session lock (${operation}). Try again when that is done.`,
  );
};

/** Throws 409 `worktree_busy` while a setup is running in the worktree. */
export const requireNoSetup = (setups: Setups, caseId: string): void => {
  if (!setups.running.has(caseId)) return;
  throw new ServiceError(
    'worktree_busy',
    'The worktree is being set up. Its status shows the progress; try again when the setup has ended.',
  );
};
