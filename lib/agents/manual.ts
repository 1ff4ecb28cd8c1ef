import { messageOf } from '../../store/base/attempt.ts';
import type { Provider, Run, RunEvent, RunResult, RunSpec } from './provider.ts';
import { plainRun } from './run-end.ts';

/** The manual provider: the operator writes plan.md, edits the worktree, and ends the work with `finish`. */
export const createManualProvider = (): Provider => ({
  isolation: 'operator',
  own_network: false,
  boundary: () => ({ kind: 'manual' }),
  missing: () => undefined,
  probe: async () => ({ id: 'manual', kind: 'manual', available: true, isolation: 'operator' }),
  start: (spec, tell) => (spec.phase === 'plan' ? awaitPlan(spec, tell) : awaitFinish(spec, tell)),
});

const awaitPlan = (spec: RunSpec, tell: (event: RunEvent) => void): Run => {
  const stop = new AbortController();
  const stopped = new Promise<RunResult>((resolve) => {
    stop.signal.addEventListener('abort', () => resolve({ outcome: 'cancelled' }));
  });
  const planned = spec.awaitPlan(stop.signal).then(
    (plan): RunResult => ({ outcome: 'completed', plan }),
    (error: unknown): RunResult => ({
      outcome: 'failed',
      error: `plan.md cannot be read: ${messageOf(error)}`,
    }),
  );
  say(
    tell,
    `Write the plan to ${spec.session_dir}/plan.md. It is ready as soon as the file has text.`,
  );
  const done = Promise.race([stopped, planned]);
  return plainRun(done, async () => {
    stop.abort();
    await done;
  });
};

const awaitFinish = (spec: RunSpec, tell: (event: RunEvent) => void): Run => {
  const ended = new AbortController();
  const done = new Promise<RunResult>((resolve) => {
    ended.signal.addEventListener('abort', () => resolve({ outcome: ended.signal.reason }));
  });
  const end = (outcome: RunResult['outcome']): boolean => {
    const isFirst = !ended.signal.aborted;
    ended.abort(outcome);
    return isFirst;
  };
  say(
    tell,
    `Carry out the approved plan in ${spec.cwd}, then finish the session (dossier finish).`,
  );
  const stop = async (): Promise<void> => void end('cancelled');
  return { ...plainRun(done, stop), finish: () => end('completed') };
};

const say = (tell: (event: RunEvent) => void, text: string): void =>
  tell({ type: 'message', data: { text } });
