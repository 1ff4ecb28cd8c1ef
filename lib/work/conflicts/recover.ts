import { heldLocks } from '../../../store/sessions/locks.ts';
import { inWorktreeTurn } from '../../../store/worktrees.ts';
import { stateOf } from '../../code/worktrees/look/state.ts';
import { findWorktree } from '../../code/worktrees/read.ts';
import type { WithLog } from '../../log.ts';
import type { TurnNeeds } from '../sessions/live/needs.ts';
import { currentConflict } from './current.ts';
import { freeOperation } from './exclusively.ts';

/** What a former life of the daemon left in the middle of a rebase is looked at and told, and its lock is freed. */
export const recoverConflicts = async (service: TurnNeeds & WithLog): Promise<void> => {
  for (const { case_id, matter } of heldLocks(service.store)) {
    if (matter.operation === undefined) continue;
    await inWorktreeTurn(service.store, case_id, () => recover(service, case_id)).catch(
      (error: unknown) =>
        service.log.error({ err: error, case_id }, 'A rebase could not be taken up again'),
    );
  }
};

// The lock is freed whatever is found: what cannot be told now is told by the next call.
const recover = async (service: TurnNeeds, caseId: string): Promise<void> => {
  try {
    const worktree = findWorktree(service.store, caseId);
    if (worktree !== undefined && (await stateOf(worktree)) === 'ok')
      await currentConflict(service, worktree);
  } finally {
    await freeOperation(service.store, caseId);
  }
};
