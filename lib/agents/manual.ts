import type { Provider, Run, RunEvent, RunResult, RunSpec } from './provider.ts';

/** The operator is the provider: plan.md is written by hand, the worktree is edited by hand, `finish` ends the work. */
export const createManualProvider = (): Provider => ({
  isolation: 'operator',
  own_network: false,
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
      error: `plan.md could not be read: ${error instanceof Error ? error.message : String(error)}`,
    }),
  );
  say(
    tell,
    `Write the plan to ${spec.session_dir}/plan.md. It is ready as soon as the file has text.`,
  );
  const done = Promise.race([stopped, planned]);
  const end = async (): Promise<void> => {
    stop.abort();
    await done;
  };
  return { done, cancel: end, kill: end, answer: () => false, finish: () => false };
};

const awaitFinish = (spec: RunSpec, tell: (event: RunEvent) => void): Run => {
  let settle: (result: RunResult) => void = () => {};
  let open = true;
  const done = new Promise<RunResult>((resolve) => {
    settle = resolve;
  });
  const end = (result: RunResult): boolean => {
    const first = open;
    open = false;
    settle(result);
    return first;
  };
  const stop = async (): Promise<void> => {
    end({ outcome: 'cancelled' });
  };
  say(tell, `Carry out the approved plan in ${spec.cwd}, then finish the session.`);
  return {
    done,
    cancel: stop,
    kill: stop,
    answer: () => false,
    finish: () => end({ outcome: 'completed' }),
  };
};

const say = (tell: (event: RunEvent) => void, text: string): void =>
  tell({ type: 'message', data: { text } });
