import { openConflict } from '../../../store/sessions/conflicts.ts';
import { readWorktree, withWorktreeLock } from '../../../store/worktrees/worktrees.ts';
import type { WorktreeNeeds } from '../../code/worktrees/needs.ts';
import { removeWorktree } from '../../code/worktrees/recovery/remove.ts';
import type { TurnNeeds } from '../sessions/live/needs.ts';
import { close } from './stop.ts';

/** Removes the worktree of a Work item, as `removeWorktree` does, and ends the rebase in it: nothing else could any more. */
export const removeWorktreeWithRebase = async (
  service: WorktreeNeeds & TurnNeeds,
  caseId: string,
  options: { force: boolean },
): Promise<void> => {
  await removeWorktree(service, caseId, options);
  const { store } = service;
  await withWorktreeLock(store, caseId, async () => {
    const conflict = openConflict(store, caseId);
    if (conflict === undefined || readWorktree(store, caseId) !== undefined) return;
    await close(service, conflict, { outcome: 'interrupted', line: 'its worktree was removed' });
  });
};
