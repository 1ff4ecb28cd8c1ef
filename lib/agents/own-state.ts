import { openRunState } from '../sandbox/state/open.ts';
import type { StatePlace } from '../sandbox/state/place.ts';
import type { ProviderDeps } from './launch.ts';
import type { Run, RunEvent, RunSpec } from './provider.ts';
import { lateRun } from './run-end.ts';

interface Turn {
  state: readonly StatePlace[];
  spec: RunSpec;
  tell: (event: RunEvent) => void;
  deps: Pick<ProviderDeps, 'sandbox' | 'states'>;
}

/**
 * Starts a run with a private copy of what its agent keeps at home, laid over the real one, and lets return what may
 * once nothing of the run is alive. Without a sandbox an agent has the real one, and all that it does there stays.
 */
export const withOwnState = (
  { state, spec, tell, deps }: Turn,
  start: (spec: RunSpec) => Run | Promise<Run>,
): Run => {
  if (deps.sandbox.kind === 'none' || state.length === 0) {
    const run = start(spec);
    return run instanceof Promise ? lateRun(run) : run;
  }
  const { session_id: name, cwd, native_session_id } = spec;
  const opening = openRunState(state, { within: deps.states, name }, { cwd, native_session_id });
  return lateRun(
    opening.then(async (own) => {
      if (own.refused.length > 0) tell(told('state_left_out', own.refused));
      try {
        const run = await start({ ...spec, binds: [...(spec.binds ?? []), ...own.binds] });
        const done = run.done.finally(async () => {
          const failed = await own.close();
          if (failed.length > 0) tell(told('state_not_returned', failed));
        });
        return { ...run, done };
      } catch (error) {
        await own.close();
        throw error;
      }
    }),
  );
};

const MOST_TOLD = 20;

const told = (kind: string, paths: readonly string[]): RunEvent => ({
  type: 'agent_event',
  data: { kind, raw: { paths: paths.slice(0, MOST_TOLD), count: paths.length } },
});
