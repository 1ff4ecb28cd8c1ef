import { caseStateOf } from '../../../store/reconcile/item.ts';
import { allItems } from '../../../store/reconcile/items.ts';
import type { Cleanup, CleanupWish } from '../../../store/records/worktree-upkeep.ts';
import { openConflict } from '../../../store/sessions/conflicts.ts';
import { readWorktree, withWorktreeLock } from '../../../store/worktrees/worktrees.ts';
import { cleanUp } from '../../code/worktrees/inspect/stale.ts';
import type { WorktreeNeeds } from '../../code/worktrees/needs.ts';
import { removeWorktree } from '../../code/worktrees/recovery/remove.ts';
import type { WithLog } from '../../log.ts';
import type { TurnNeeds } from '../sessions/live/needs.ts';
import { close } from './stop.ts';

/**
 * Removes the worktree of a Work item, as `removeWorktree` does, and ends the rebase in it: nothing else could any more.
 * If the worktree is gone already, as after a kill in between, the rebase ends all the same.
 */
export const removeWorktreeWithRebase = async (
  service: WorktreeNeeds & TurnNeeds,
  caseId: string,
  options: { force: boolean },
): Promise<void> => {
  try {
    await removeWorktree(service, caseId, options);
  } finally {
    await endWithoutWorktree(service, caseId);
  }
};

/** Removes stale worktrees, as `cleanUp` does, and ends the rebases in them. */
export const cleanUpWithRebases = async (
  service: WorktreeNeeds & TurnNeeds,
  wish: CleanupWish,
): Promise<Cleanup> => {
  const result = await cleanUp(service, wish);
  if (!result.dry_run)
    for (const { case_id } of result.removed) await endWithoutWorktree(service, case_id);
  return result;
};

/** Ends the rebases whose daemon died between the removal of their worktree and their end: their Work items are blocked. */
export const recoverRemovals = async (service: TurnNeeds & WithLog): Promise<void> => {
  for (const item of allItems(service.store).filter((one) => caseStateOf(one) === 'BLOCKED'))
    await endWithoutWorktree(service, item.id).catch((error: unknown) =>
      service.log.error(
        { err: error, case_id: item.id },
        'ending a rebase without worktree failed',
      ),
    );
};

const endWithoutWorktree = (service: TurnNeeds, caseId: string): Promise<void> =>
  withWorktreeLock(service.store, caseId, async () => {
    const conflict = openConflict(service.store, caseId);
    if (conflict === undefined || readWorktree(service.store, caseId) !== undefined) return;
    await close(service, conflict, {
      outcome: 'interrupted',
      line: 'its worktree was removed or detached',
    });
  });
