import type { LockMatter } from '../../../../store/records/lock.ts';
import { acquireLock } from '../../../../store/sessions/locks.ts';
import type { Engine } from './engine.ts';
import type { EngineNeeds } from './needs.ts';

/** Whether a run is at work in the Work item's worktree. A lock that was deleted by hand frees the lock, not the worktree. */
export const isLive = ({ live }: Engine, caseId: string): boolean =>
  [...live.values()].some(({ case_id }) => case_id === caseId);

/** Takes the session lock for a step of the daemon's own; false while somebody holds it, or is at work without it. */
export const acquireUnlessLive = async (
  { engine, store }: EngineNeeds,
  caseId: string,
  operation: string,
): Promise<boolean> => {
  const acquired_at = store.clock().toISOString();
  const matter: LockMatter = { kind: 'operator', name: 'the daemon', operation, acquired_at };
  return !isLive(engine, caseId) && acquireLock(store, caseId, matter);
};
