import { orElse } from '../../../store/base/or-else.ts';
import { allItems, itemOf } from '../../../store/reconcile/items.ts';
import { isMadeAgain } from '../../../store/reconcile/new-id.ts';
import type { Worktree, WorktreeRecord } from '../../../store/records/worktree.ts';
import { readLock } from '../../../store/sessions/locks.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { claimedWorktree, lookAtWorktrees } from '../../../store/worktrees/claimed-worktrees.ts';
import { readWorktree, saveWorktree } from '../../../store/worktrees/worktrees.ts';
import { notFound, ServiceError } from '../../errors.ts';
import type { Traces } from '../../tools/process/process-tree.ts';
import type { Setups, WithSetups } from './needs.ts';

/** The record of a Work item's worktree; undefined when it has none. Throws 409 `unreadable_record`, `worktree_elsewhere`. */
export const findWorktree = (store: Store, caseId: string): WorktreeRecord | undefined =>
  readWorktree(store, caseId);

/** By what the processes of a Work item's run are known, besides its marker: they stand in its worktree. */
export const tracesOf = (store: Store, caseId: string): Traces => {
  // A record that cannot be read is told where it is needed; the marker finds most.
  const dir = orElse(() => findWorktree(store, caseId)?.path, undefined);
  return dir === undefined ? {} : { dir };
};

/** Where the other Work items are worked on: the settings may name any place for that. */
export const otherWorktrees = (store: Store, caseId: string): string[] =>
  allItems(store)
    .map(({ id }) => id)
    .flatMap((id) => {
      if (id === caseId) return [];
      // Whoever asks for that worktree is told what is wrong with its record.
      return orElse(() => readWorktree(store, id)?.path, undefined) ?? [];
    });

/** The record, where there has to be one: 404 without the Work item or its worktree. */
export const getWorktree = (store: Store, caseId: string): WorktreeRecord => {
  const record = findWorktree(store, caseId);
  if (record !== undefined) return record;
  checkCase(store, caseId);
  throw new ServiceError(
    'not_found',
    `The Work item ${caseId} has no worktree. Make one with POST /api/worktrees.`,
  );
};

/** What a call that was cut off has made before, where this is that call again. */
export const worktreeOfRepeatedCall = (store: Store, caseId: string): WorktreeRecord | undefined =>
  isMadeAgain() && claimedWorktree(store.layout, caseId) === undefined
    ? findWorktree(store, caseId)
    : undefined;

/** Keeps the record of a worktree that was made or attached, over one that another machine wrote. */
export const keepWorktree = async (store: Store, record: WorktreeRecord): Promise<void> => {
  await saveWorktree(store, record);
  lookAtWorktrees(store);
};

/** Throws 409 `already_exists` where the Work item has a worktree that this machine knows. */
export const requireNoWorktree = (store: Store, caseId: string): void => {
  if (claimedWorktree(store.layout, caseId) !== undefined) return;
  const known = findWorktree(store, caseId);
  if (known === undefined) return;
  throw new ServiceError(
    'already_exists',
    `The Work item has a worktree: ${known.path}. Use it, or delete it first.`,
  );
};

export const checkCase = (store: Store, caseId: string): void => {
  if (itemOf(store, caseId) === undefined) throw notFound('Work item', caseId);
};

/** The record as it is served: where git keeps its own part is nobody's business. */
export const worktreeOf = ({
  repository: _repository,
  git_dir: _git,
  common_dir: _common,
  setup_marker: _marker,
  turn_dir: _turn,
  ...worktree
}: WorktreeRecord): Worktree => worktree;

/**
 * Throws 409 while somebody is at work in the worktree: a session or an operator who holds the session lock, or a set-up
 * that goes on.
 */
export const refuseHeld = ({ setups, store }: WithSetups & WithStore, caseId: string): void => {
  requireNoSetup(setups, caseId);
  const lock = readLock(store, caseId);
  if (lock === undefined || !lock.locked) return;
  if (lock.holder?.kind === 'session') {
    throw new ServiceError(
      'session_active',
      'A session is at work in the worktree. Abort it or let it end, then try again.',
    );
  }
  throw new ServiceError(
    'lock_held',
    `The session lock is held by ${lock.holder?.name ?? 'an operator'}. Release it, then try again.`,
  );
};

/** Throws 409 `worktree_busy` while a set-up goes on in the worktree. */
export const requireNoSetup = (setups: Setups, caseId: string): void => {
  if (!setups.running.has(caseId)) return;
  throw new ServiceError(
    'worktree_busy',
    'The worktree is being set up. Its status says how far that is; try again when it has ended.',
  );
};
