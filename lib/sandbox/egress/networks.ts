import { type NetworkRules, networkRules } from '../../../store/records/applied.ts';
import { authorityText } from './authority.ts';
import type { Doors } from './doors.ts';
import type { AnswerMcp } from './mcp-door.ts';
import {
  localTargets,
  type OpenNetwork,
  openRunNetwork,
  type RunNetworkOptions,
} from './run-network.ts';

type NetworkRun = Pick<RunNetworkOptions, 'given' | 'tell' | 'token'>;

/** The network access of one provider's programs. */
export interface NetworkAccess {
  /** `host`: the machine's network with its loopback. */
  readonly kind: 'own' | 'host';
  /** What programs with these variables can reach, and which services of this machine. */
  reaches(given: NetworkRun['given']): {
    network: NonNullable<NetworkRules['network']>;
    local: string[];
  };
  /** Opens the network of a run. Throws if its sockets cannot be created. */
  open(run: NetworkRun): OpenNetwork;
  /** The access of a provider with settings that override the general ones. */
  for(own: NetworkRules): NetworkAccess;
}

export interface NetworkDeps extends Pick<RunNetworkOptions, 'rules' | 'env'> {
  /** Accepts the connections of runs. */
  doors: Doors;
  /** Without a sandbox, programs have the host network. */
  sandboxed: boolean;
  /** Answers MCP messages of the run with this token. */
  mcp: (token: string | undefined) => AnswerMcp;
}

/** Creates the network access for programs in the sandbox. */
export const createNetworkAccess = (deps: NetworkDeps): NetworkAccess => {
  const { sandboxed, rules, env, doors, mcp } = deps;
  const kind = sandboxed && rules.network !== 'host' ? 'own' : 'host';
  return {
    kind,
    reaches: (given) =>
      kind === 'host'
        ? { network: 'host', local: [] }
        : {
            network: rules.network ?? 'proxy',
            local: localTargets(rules.allow_local ?? [], given).map(authorityText),
          },
    open: ({ given, token, tell }) =>
      kind === 'host'
        ? HOST
        : openRunNetwork({ rules, env, given, doors, token, mcp: mcp(token), tell }),
    for: (own) => createNetworkAccess({ ...deps, rules: networkRules(rules, own) }),
  };
};

const HOST: OpenNetwork = { view: 'host', environment: (env) => env, close: async () => undefined };

/** A service with the network access of the current settings. */
export interface WithNetwork {
  readonly network: () => NetworkAccess;
}
