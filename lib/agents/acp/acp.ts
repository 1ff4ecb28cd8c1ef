import { cleanEnvironment } from '../../tools/process/environment.ts';
import { programStamp } from '../../tools/process/find-program.ts';
import { boundaryOf, isolationOf, whyNotThere } from '../launch.ts';
import { policyWithin } from '../permissions.ts';
import type { AcpAgent } from '../presets.ts';
import { withOwnState } from '../private-state.ts';
import type { Provider, ProviderInfo } from '../provider.ts';
import { failedRun } from '../run-end.ts';
import { createSeen } from './offers.ts';
import type { AcpDeps } from './run.ts';

const UNAVAILABLE_MS = 30_000;

/**
 * Any agent that speaks the Agent Client Protocol on standard input and output, one process for each turn. An agent
 * that answered once is taken to be there until its program is another file; that it is not is asked again after 30 s.
 * The protocol's code is loaded when the first agent is needed: most starts of the daemon do without.
 */
export const createAcpProvider = (agent: AcpAgent, deps: AcpDeps): Provider => {
  const stamp = (): string =>
    programStamp(agent.argv[0] ?? '', cleanEnvironment(deps.env, agent.env));
  const seen = createSeen(stamp);
  const policy = policyWithin(deps.policy, isolationOf(deps));
  let known: { info: Promise<ProviderInfo>; until: number; program: string } | undefined;
  const look = (): Promise<ProviderInfo> => {
    const program = stamp();
    const fresh = known?.program === program && performance.now() < known.until;
    if (known !== undefined && fresh) return known.info;
    const info = probe(agent, deps);
    const latest = { info, until: Number.POSITIVE_INFINITY, program };
    known = latest;
    return info.then((found) => {
      if (!found.available) latest.until = performance.now() + UNAVAILABLE_MS;
      return found;
    });
  };
  return {
    isolation: isolationOf(deps),
    own_network: deps.network.kind === 'own',
    boundary: () => ({
      ...boundaryOf('acp', deps, agent.env),
      permissions: { ...policy, prefixes: [] },
    }),
    usual: agent.usual,
    offers: seen.read,
    missing: () => whyNotThere(agent, deps),
    probe: async () => ({ ...(await look()), login: agent.loggedIn() }),
    start: (spec, tell) => {
      const missing = whyNotThere(agent, deps);
      if (missing !== undefined) return failedRun(missing);
      const loading = import('./run.ts');
      return withOwnState({ state: agent.state, spec, tell, deps }, (own) =>
        loading.then(({ startAcpRun }) => startAcpRun(agent, own, tell, { ...deps, policy, seen })),
      );
    },
  };
};

const probe = async (agent: AcpAgent, deps: AcpDeps): Promise<ProviderInfo> => {
  const base = { id: agent.id, kind: 'acp', isolation: isolationOf(deps) } as const;
  const missing = whyNotThere(agent, deps);
  if (missing !== undefined) return { ...base, available: false, reason: missing };
  const { greet } = await import('./probe.ts');
  const hello = await greet(agent, deps);
  if (typeof hello === 'string') return { ...base, available: false, reason: hello };
  return {
    ...base,
    available: true,
    ...(hello.version !== undefined && { version: hello.version }),
  };
};
