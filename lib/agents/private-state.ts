import { openRunState } from '../sandbox/state/open.ts';
import type { StatePlace } from '../sandbox/state/rules.ts';
import { setUpLimits } from '../sandbox/state/set-up.ts';
import type { Returned } from '../sandbox/state/state.ts';
import { type LaunchDeps, type Placed, type ProviderDeps, viewBefore } from './launch.ts';
import type { Run, RunEvent, RunSpec } from './provider.ts';
import { deferredRun } from './run-end.ts';

/** What a run needs for a copy of its agent's state. */
type OfRun = Pick<RunSpec, 'session_id' | 'native_session_id'> & Placed;

interface Turn<S extends OfRun> {
  state: readonly StatePlace[];
  spec: S;
  tell: (event: RunEvent) => void;
  deps: Pick<ProviderDeps, 'env' | 'network' | 'sandbox' | 'states' | 'keepAside'>;
}

/**
 * Starts a run with a private copy of its agent's state mounted over the real one, and copies back what may return after the
 * last process of the run has ended. Without a sandbox the agent uses its real state.
 */
export const withPrivateState = <S extends OfRun>(
  { state, spec, tell, deps }: Turn<S>,
  start: (spec: S) => Run | Promise<Run>,
): Run => {
  if (deps.sandbox.kind === 'none' || state.length === 0) {
    const run = start(spec);
    return run instanceof Promise ? deferredRun(run) : run;
  }
  const { session_id: name, cwd, native_session_id } = spec;
  const place = { within: deps.states, name, keepAside: deps.keepAside };
  const opening = openRunState(state, place, { cwd, native_session_id });
  return deferredRun(
    opening.then(async (own) => {
      if (own.refused.length > 0) tell(told('state_left_out', own.refused));
      const bound = { ...spec, binds: [...(spec.binds ?? []), ...own.binds] };
      try {
        if (spec.phase === 'plan') await tellSetUp(state, bound, { tell, ...deps });
        const run = await start(bound);
        const done = run.done.finally(async () => tellReturned(await own.close(), tell));
        return { ...run, done };
      } catch (error) {
        await own.close();
        throw error;
      }
    }),
  );
};

// Before the plan, so that the operator can mend it and plan again.
const tellSetUp = async (
  state: readonly StatePlace[],
  spec: OfRun,
  { tell, env, network, sandbox }: Pick<Turn<OfRun>, 'tell'> & Pick<LaunchDeps, Limiting>,
): Promise<void> => {
  const hidden = sandbox.hides(viewBefore(spec, { env, network }));
  for (const message of await setUpLimits(state, { home: env.HOME ?? '/', hidden }))
    tell({ type: 'sandbox_limit', data: { message } });
};

type Limiting = 'env' | 'network' | 'sandbox';

const tellReturned = (
  { left, renewed, logins }: Returned,
  tell: (event: RunEvent) => void,
): void => {
  if (left.length > 0) tell(told('state_not_returned', left));
  if (renewed.length > 0) tell(told('login_refreshed', renewed));
  for (const { path, why, kept } of logins) {
    const where =
      kept === undefined ? 'It could not be stored.' : `It is stored in ${kept} for 7 days.`;
    const message = `The agent has a new login, which was not copied back to ${path}: ${why}. ${where} Log in with the agent itself, outside a session.`;
    tell({ type: 'error', data: { code: 'login_kept', message } });
  }
};

const MOST_TOLD = 20;

const told = (kind: string, found: readonly unknown[]): RunEvent => ({
  type: 'agent_event',
  data: { kind, raw: { paths: found.slice(0, MOST_TOLD), count: found.length } },
});
