import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { readyToWrite } from '../../../store/store.ts';
import { withWorktreeLock } from '../../../store/worktrees/worktrees.ts';
import { checkState } from '../../code/worktrees/inspect/status.ts';
import { getWorktree, requireUnlocked } from '../../code/worktrees/read.ts';
import { reclaimTurnLocked } from '../../code/worktrees/turn/reclaim.ts';
import { ServiceError } from '../../errors.ts';
import { startQueued } from '../sessions/lifecycle/launch.ts';
import { acquireUnlessLive, releaseOperationLock } from '../sessions/lifecycle/operation.ts';
import type { SessionNeeds } from '../sessions/live/needs.ts';

/**
 * Runs one operation alone in the worktree, holding the session lock, so that no session starts meanwhile. Throws 409
 * while a session runs, or an operator holds the lock.
 */
export const exclusively = async <T>(
  service: SessionNeeds,
  caseId: string,
  operation: string,
  work: (worktree: WorktreeRecord) => Promise<T>,
): Promise<T> => {
  const { store } = service;
  const done = withWorktreeLock(store, caseId, async () => {
    const worktree = getWorktree(store, caseId);
    await readyToWrite(store);
    await checkState(worktree);
    await takeLock(service, caseId, operation);
    return reclaimTurnLocked(service, caseId)
      .then(() => work(worktree))
      .finally(() => releaseOperationLock(store, caseId));
  });
  return done.finally(() => startQueued(service));
};

const takeLock = async (
  service: SessionNeeds,
  caseId: string,
  operation: string,
): Promise<void> => {
  requireUnlocked(service, caseId);
  if (await acquireUnlessLive(service, caseId, operation)) return;
  requireUnlocked(service, caseId);
  throw new ServiceError(
    'session_active',
    'A session is running in the worktree. Wait for it to end, or abort it, then try again.',
  );
};
