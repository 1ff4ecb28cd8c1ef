import { openRunState } from '../sandbox/state/open.ts';
import type { StatePlace } from '../sandbox/state/rules.ts';
import type { Returned } from '../sandbox/state/state.ts';
import type { ProviderDeps } from './launch.ts';
import type { Run, RunEvent, RunSpec } from './provider.ts';
import { lateRun } from './run-end.ts';

interface Turn {
  state: readonly StatePlace[];
  spec: RunSpec;
  tell: (event: RunEvent) => void;
  deps: Pick<ProviderDeps, 'sandbox' | 'states' | 'keepAside'>;
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
  const place = { within: deps.states, name, keepAside: deps.keepAside };
  const opening = openRunState(state, place, { cwd, native_session_id });
  return lateRun(
    opening.then(async (own) => {
      if (own.refused.length > 0) tell(told('state_left_out', own.refused));
      try {
        const run = await start({ ...spec, binds: [...(spec.binds ?? []), ...own.binds] });
        const done = run.done.finally(async () => tellReturned(await own.close(), tell));
        return { ...run, done };
      } catch (error) {
        await own.close();
        throw error;
      }
    }),
  );
};

const tellReturned = ({ left, renewed, logins }: Returned, tell: Turn['tell']): void => {
  if (left.length > 0) tell(told('state_not_returned', left));
  if (renewed.length > 0) tell(told('login_refreshed', renewed));
  for (const { path, why, kept } of logins) {
    const where =
      kept === undefined ? 'It could not be kept.' : `It is kept in ${kept} for 7 days.`;
    const message = `The login that the agent left in ${path} was not returned: ${why}. ${where} Log in with the agent itself, outside of a session.`;
    tell({ type: 'error', data: { code: 'login_kept', message } });
  }
};

const MOST_TOLD = 20;

const told = (kind: string, found: readonly unknown[]): RunEvent => ({
  type: 'agent_event',
  data: { kind, raw: { paths: found.slice(0, MOST_TOLD), count: found.length } },
});
