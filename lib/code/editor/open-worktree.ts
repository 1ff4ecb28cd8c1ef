import type { Tree } from '../../../store/fs/worktree/folder.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { readBaseline } from '../../../store/sessions/baselines.ts';
import { readyToWrite, type Store, type WithStore } from '../../../store/store.ts';
import { withFilesLock, withWorktreeLock } from '../../../store/worktrees/worktrees.ts';
import { ServiceError } from '../../errors.ts';
import { checkState } from '../worktrees/inspect/status.ts';
import type { WithSetups } from '../worktrees/needs.ts';
import { getWorktree, requireNoSetup, treeOf } from '../worktrees/read.ts';
import { finishInterruptedMove } from '../worktrees/recovery/changes.ts';

/** The worktree of a Work item, for reading files. 404 without one, 409 if it is missing or tampered. */
export const requireWorktree = async (store: Store, caseId: string): Promise<WorktreeRecord> => {
  const worktree = getWorktree(store, caseId);
  await checkState(worktree);
  return worktree;
};

/**
 * Runs a change of files by the operator under the lock of the worktree. 409 during a setup, and while an agent reads the
 * worktree in Plan mode, because the end of that turn undoes all changes and fails the session.
 */
export const withWorktreeChange = <T>(
  service: WithSetups & WithStore,
  caseId: string,
  work: (tree: Tree, worktree: WorktreeRecord) => Promise<T>,
): Promise<T> => {
  requireNoSetup(service.setups, caseId);
  const { store } = service;
  return withWorktreeLock(store, caseId, () =>
    withFilesLock(store, caseId, async () => {
      const worktree = await requireWorktree(store, caseId);
      refuseReading(store, caseId);
      await readyToWrite(store);
      await finishInterruptedMove(store, worktree);
      return work(treeOf(store, worktree), worktree);
    }),
  );
};

const refuseReading = (store: Store, caseId: string): void => {
  const baseline = readBaseline(store.layout, caseId);
  if (baseline === undefined) return;
  const who =
    baseline.planning === true
      ? 'An agent is writing a planning file'
      : 'A session is in Plan mode';
  throw new ServiceError(
    'session_active',
    `${who}, so a change of the worktree would be undone. Wait until it ends, or pause or abort it, then try again.`,
  );
};
