import { messageOf } from '../../../store/base/attempt.ts';
import { cleanEnvironment } from '../../tools/process/environment.ts';
import { programStamp } from '../../tools/process/find-program.ts';
import { boundaryOf, isolationOf, whyUnavailable } from '../launch.ts';
import { policyWithin } from '../permissions.ts';
import type { AcpAgent } from '../presets.ts';
import { withPrivateState } from '../private-state.ts';
import type { Provider, ProviderInfo } from '../provider.ts';
import { failedRun } from '../run-end.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { createOfferCache } from './offers.ts';
import type { AcpDeps } from './run.ts';

const UNAVAILABLE_MS = 30_000;

/**
 * A provider for any agent that speaks the Agent Client Protocol on standard input and output, one process per turn. A
 * successful probe is cached until the program file changes, a failed one for 30 s. The protocol's code is loaded with the
 * first agent, because most starts of the daemon do not need it.
 */
export const createAcpProvider = (agent: AcpAgent, deps: AcpDeps): Provider => {
  const stamp = (): string =>
    programStamp(agent.argv[0] ?? '', cleanEnvironment(deps.env, agent.env));
  const seen = createOfferCache(stamp);
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
    missing: () => whyUnavailable(agent, deps),
    probe: async () => ({ ...(await look()), login: agent.loggedIn() }),
    ...(agent.terminal && { terminal: createTerminal(agent, agent.terminal, deps) }),
    start: (spec, tell) => {
      const missing = whyUnavailable(agent, deps);
      if (missing !== undefined) return failedRun(missing);
      const loading = import('./run.ts');
      return withPrivateState({ state: agent.state, spec, tell, deps }, (own) =>
        loading.then(({ startAcpRun }) => startAcpRun(agent, own, tell, { ...deps, policy, seen })),
      );
    },
  };
};

const probe = async (agent: AcpAgent, deps: AcpDeps): Promise<ProviderInfo> => {
  const base = { id: agent.id, kind: 'acp', isolation: isolationOf(deps) } as const;
  const missing = whyUnavailable(agent, deps);
  if (missing !== undefined) return { ...base, available: false, reason: missing };
  const { probeAgent } = await import('./probe.ts');
  // For example the sandbox could not be prepared: the others are listed.
  const hello = await probeAgent(agent, deps).catch(messageOf);
  if (typeof hello === 'string') return { ...base, available: false, reason: hello };
  return {
    ...base,
    available: true,
    ...(hello.version !== undefined && { version: hello.version }),
  };
};
