import { signal } from '../../../../store/base/async.ts';
import { lockOn } from '../../../../store/base/locks.ts';
import type { LockMatter } from '../../../../store/records/lock.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { acquireLock, releaseLock } from '../../../../store/sessions/locks.ts';
import { readyToWrite, type Store } from '../../../../store/store.ts';
import { withWorktreeLock } from '../../../../store/worktrees/worktrees.ts';
import { checkState } from '../../../code/worktrees/inspect/status.ts';
import { getWorktree, requireUnlocked } from '../../../code/worktrees/read.ts';
import { refuseSession } from '../../../code/worktrees/rebase/rebase-state.ts';
import { reclaimTurnLocked } from '../../../code/worktrees/turn/reclaim.ts';
import { ServiceError } from '../../../errors.ts';
import { isLive, type LiveRun, newRun } from '../live/engine.ts';
import type { EngineNeeds, SessionNeeds } from '../live/needs.ts';
import { isAtCapacity } from '../live/slots.ts';
import { startQueued } from './launch.ts';

/** A run of the daemon itself in a Work item's worktree, such as a check: it belongs to no session. */
export interface Operation {
  live: LiveRun;
  /** Releases the lock and the slot, starts queued sessions, and resolves `live.finished`. */
  end(): Promise<void>;
}

/**
 * Begins an operation, which holds the session lock and a slot of `max_sessions`. The next start of the daemon releases the
 * lock if this one does not. Throws 409 while the worktree is in use.
 */
export const beginOperation = (
  service: SessionNeeds,
  run: Pick<LiveRun, 'case_id' | 'session_id' | 'run_marker' | 'phase'>,
  operation: string,
): Promise<Operation> =>
  service.store.locks.take(lockOn.start(), async () => {
    const { store, engine } = service;
    const { case_id, session_id } = run;
    if (engine.closing) throw new ServiceError('unavailable', STOPPING);
    refuseSession(store, case_id, operation);
    requireUnlocked(service, case_id);
    if (isAtCapacity(service)) throw busy('All max_sessions slots are in use.');
    if (!(await acquireUnlessLive(service, case_id, operation)))
      throw busy('The worktree is in use by a session or an operation.');
    const live = newRun(run);
    live.entered.raise();
    const ended = signal();
    live.finished = ended.raised;
    engine.live.set(session_id, live);
    return { live, end: () => end(service, live).finally(ended.raise) };
  });

const STOPPING = 'The daemon is stopping. Try again once it has restarted.';

const busy = (why: string): ServiceError =>
  new ServiceError(
    'session_active',
    `${why} Wait for the running session to end, or abort it, then try again.`,
  );

const end = (service: SessionNeeds, { case_id, session_id }: LiveRun): Promise<void> =>
  releaseOperationLock(service.store, case_id)
    .finally(() => service.engine.live.delete(session_id))
    .finally(() => startQueued(service));

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

/** Takes the session lock for an operation of the daemon. False while the lock is held or a run exists. */
const acquireUnlessLive = async (
  { engine, store }: EngineNeeds,
  caseId: string,
  operation: string,
): Promise<boolean> => {
  const acquired_at = store.clock().toISOString();
  const matter: LockMatter = { kind: 'operator', name: 'the daemon', operation, acquired_at };
  return !isLive(engine, caseId) && acquireLock(store, caseId, matter);
};

/** Releases the session lock if an operation of the daemon holds it. */
export const releaseOperationLock = async (store: Store, caseId: string): Promise<void> => {
  await releaseLock(store, caseId, ({ operation }) => operation !== undefined);
};
