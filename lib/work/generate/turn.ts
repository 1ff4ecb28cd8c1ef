import { randomUUID } from 'node:crypto';
import { lockOn } from '../../../store/base/locks.ts';
import { visible } from '../../../store/base/visible.ts';
import type { LockMatter } from '../../../store/records/lock.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { baselineOwners, readBaseline } from '../../../store/sessions/baselines.ts';
import { releaseLock } from '../../../store/sessions/locks.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { answering } from '../../agents/prompt.ts';
import type { Provider, RunResult, RunSpec } from '../../agents/provider.ts';
import { ensureWorktree } from '../../code/worktrees/create/create.ts';
import type { GitNeeds, WithSetups } from '../../code/worktrees/needs.ts';
import { requireUnlocked, tracesOf } from '../../code/worktrees/read.ts';
import { refuseSession } from '../../code/worktrees/rebase/rebase-state.ts';
import { viewOf } from '../../code/worktrees/turn/open.ts';
import { ServiceError } from '../../errors.ts';
import type { Log, WithLog } from '../../log.ts';
import { forgetState } from '../../sandbox/state/open.ts';
import { killRun } from '../../tools/process/process-tree.ts';
import { startQueued } from '../sessions/lifecycle/launch.ts';
import {
  acquireUnlessLive,
  type LiveRun,
  newRun,
  type WithEngine,
} from '../sessions/live/engine.ts';
import type { SessionNeeds } from '../sessions/live/needs.ts';
import { isAtCapacity } from '../sessions/live/slots.ts';
import { comparedRun, undoInterrupted } from '../sessions/turns/baseline.ts';
import type { ReadingTurn } from '../sessions/turns/reading-turn.ts';
import { openRunMcp } from '../sessions/turns/run.ts';

/** The operation of the lock, which the daemon releases afterwards or at its next start. */
const PLANNING = 'planning';

interface Asked {
  provider: { name: string; run: Provider };
  /** The whole prompt. */
  prompt: string;
}

/**
 * Runs an agent in the Work item's worktree under the limits of Plan mode: it holds the session lock and a slot of
 * `max_sessions`, sees the worktree read-only or is compared afterwards, and leaves no process. Throws 409 while the
 * worktree is in use, and 502 `provider_failed` for an agent that fails or changes something.
 */
export const runReadOnlyTurn = async (
  service: SessionNeeds,
  caseId: string,
  asked: Asked,
): Promise<string> => {
  const { live, ended } = await begin(service, caseId);
  try {
    return answerOf(await compared(service, live, asked));
  } finally {
    await free(service, live).finally(ended);
  }
};

const free = async (service: SessionNeeds, { case_id, session_id }: LiveRun): Promise<void> => {
  const isOurs = ({ operation }: LockMatter): boolean => operation === PLANNING;
  await releaseLock(service.store, case_id, isOurs).finally(() =>
    service.engine.live.delete(session_id),
  );
  await startQueued(service);
};

interface Begun {
  live: LiveRun;
  /** Resolves `live.finished`. */
  ended: () => void;
}

const begin = (service: WithEngine & WithSetups & WithStore, caseId: string): Promise<Begun> =>
  service.store.locks.take(lockOn.start(), async () => {
    const { store, engine } = service;
    if (engine.closing) throw new ServiceError('unavailable', STOPPED);
    refuseSession(store, caseId, PLANNING);
    requireUnlocked(service, caseId);
    if (isAtCapacity(service)) throw busy('All max_sessions slots are in use.');
    if (!(await acquireUnlessLive(service, caseId, PLANNING)))
      throw busy('The worktree is in use by a session or an operation.');
    const begun = liveRun(caseId);
    engine.live.set(begun.live.session_id, begun.live);
    return begun;
  });

const STOPPED = 'The daemon stopped before the agent answered. Try again once it has restarted.';

const busy = (why: string): ServiceError =>
  new ServiceError(
    'session_active',
    `${why} Wait for the running session to end, or abort it, then try again.`,
  );

const liveRun = (case_id: string): Begun => {
  const id = randomUUID();
  let ended: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const live = newRun({ session_id: id, case_id, run_marker: id, phase: 'plan' });
  live.entered = true;
  live.finished = finished;
  return { live, ended };
};

const compared = async (service: SessionNeeds, live: LiveRun, asked: Asked): Promise<RunResult> => {
  const { case_id, session_id: id } = live;
  const turn = turnOfPlanning(service.log, { case_id, id, provider: asked.provider.name });
  const worktree = await ensureWorktree(service, case_id);
  await undoInterrupted(service, turn);
  const { result, violation } = await comparedRun(service, turn, worktree, (signed_as) =>
    run(service, live, { asked, worktree, signed_as }),
  );
  return violation === undefined ? result : { outcome: 'failed', error: violation };
};

/** A turn without a session: findings go to the log, and undone changes stay under a ref. */
export const turnOfPlanning = (
  log: Log,
  turn: Pick<ReadingTurn, 'case_id' | 'id' | 'provider'>,
): ReadingTurn => ({
  ...turn,
  of: 'planning',
  run_marker: turn.id,
  tell: (found) =>
    log.warn({ case_id: turn.case_id, ...found }, 'an agent changed files or refs while planning'),
  keepPatch: async () => undefined,
});

interface Start {
  asked: Asked;
  worktree: WorktreeRecord;
  signed_as: string | undefined;
}

const run = async (service: SessionNeeds, live: LiveRun, start: Start): Promise<RunResult> => {
  live.worktree = start.worktree.path;
  const provider = start.asked.provider.run;
  const door = await openRunMcp(service, live, provider);
  if (door === undefined) return { outcome: 'cancelled' };
  const { store } = service;
  const spec = { ...specOf(store, live, start), mcp: door.mcp };
  live.run = provider.start(spec, () => undefined);
  return live.run.done.finally(() => {
    door.close();
    return forgetState(store.layout.states, spec.session_id);
  });
};

const specOf = (store: Store, live: LiveRun, { asked, worktree, signed_as }: Start): RunSpec => ({
  ...answering(asked.prompt),
  ...viewOf(store, worktree, { phase: 'plan' }),
  session_id: live.session_id,
  run_marker: live.run_marker,
  session_dir: worktree.path,
  ...(signed_as !== undefined && { signed_as }),
});

const answerOf = ({ outcome, error, plan = '' }: RunResult): string => {
  if (outcome === 'completed') return visible(plan);
  if (outcome === 'cancelled') throw new ServiceError('unavailable', STOPPED);
  throw new ServiceError(
    'provider_failed',
    `${visible(error ?? 'The agent stopped without an answer.')} Nothing was written.`,
  );
};

/**
 * Cleans up after planning agents of the previous daemon: ends their processes and compares the worktree. Their locks
 * are released with those of other operations.
 */
export const recoverPlanning = async (service: GitNeeds & WithLog): Promise<void> => {
  for (const caseId of baselineOwners(service.store.layout)) {
    await recover(service, caseId).catch((error: unknown) =>
      service.log.error(
        { err: error, case_id: caseId },
        'cleaning up after a planning agent failed',
      ),
    );
  }
};

const recover = async (service: GitNeeds & WithLog, case_id: string): Promise<void> => {
  const baseline = readBaseline(service.store.layout, case_id);
  if (baseline?.planning !== true) return;
  const { session_id: id } = baseline;
  await killRun(id, tracesOf(service.store, case_id));
  const violation = await undoInterrupted(
    service,
    turnOfPlanning(service.log, { case_id, id, provider: '' }),
  );
  if (violation !== undefined) service.log.warn({ case_id }, violation);
};
