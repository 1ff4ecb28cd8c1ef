import { randomUUID } from 'node:crypto';
import { visible } from '../../../store/base/visible.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { baselineOwners, readBaseline } from '../../../store/sessions/baselines.ts';
import type { Store } from '../../../store/store.ts';
import { answering } from '../../agents/prompt.ts';
import type { Provider, RunResult, RunSpec } from '../../agents/provider.ts';
import { ensureWorktree } from '../../code/worktrees/create/create.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { tracesOf } from '../../code/worktrees/read.ts';
import { viewOf } from '../../code/worktrees/turn/open.ts';
import { ServiceError } from '../../errors.ts';
import type { Log, WithLog } from '../../log.ts';
import { forgetState } from '../../sandbox/state/open.ts';
import { killRun } from '../../tools/process/process-tree.ts';
import { beginOperation } from '../sessions/lifecycle/operation.ts';
import type { LiveRun } from '../sessions/live/engine.ts';
import type { SessionNeeds } from '../sessions/live/needs.ts';
import { comparedRun, undoInterrupted } from '../sessions/turns/baseline.ts';
import type { ReadingTurn } from '../sessions/turns/reading-turn.ts';
import { openRunMcp } from '../sessions/turns/run.ts';

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
  const id = randomUUID();
  const run = { case_id: caseId, session_id: id, run_marker: id, phase: 'plan' } as const;
  const { live, end } = await beginOperation(service, run, 'planning');
  try {
    return answerOf(await compared(service, live, asked));
  } finally {
    await end();
  }
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
const turnOfPlanning = (
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

const STOPPED = 'The daemon stopped before the agent answered. Try again once it has restarted.';

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
