import { type NetworkRules, networkRules } from '../../../store/records/applied.ts';
import { authorityText } from './authority.ts';
import type { Doors } from './doors.ts';
import type { AnswerMcp } from './mcp-door.ts';
import { localTargets } from './rules.ts';
import { type OpenNetwork, openRunNetwork, type RunNetworkOptions } from './run-network.ts';

interface NetworkRun extends Pick<RunNetworkOptions, 'given' | 'tell'> {
  /** The token by which it reaches the daemon's MCP server; undefined: it does not. */
  token: string | undefined;
}

/** How the programs of one provider reach the network. */
export interface NetworkDoor {
  /** `host`: they have the machine's own, loopback and all. */
  readonly kind: 'own' | 'host';
  /** What programs reach that are given these variables, and which services of this machine. */
  reaches(given: NetworkRun['given']): {
    network: NonNullable<NetworkRules['network']>;
    local: string[];
  };
  /** Throws where there can be no socket. */
  open(run: NetworkRun): OpenNetwork;
  /** The door of a provider whose own settings win over those of all. */
  for(own: NetworkRules): NetworkDoor;
}

export interface NetworkDeps extends Pick<RunNetworkOptions, 'rules' | 'env'> {
  /** Where what the runs send is read. */
  doors: Doors;
  /** Without a sandbox nothing has a network of its own. */
  sandboxed: boolean;
  /** Answers for the run with this token, what is presented by `presented`. */
  mcp: (token: string | undefined) => AnswerMcp;
}

/** Doors to the network for all that is started in the sandbox. */
export const createNetworkDoor = (deps: NetworkDeps): NetworkDoor => {
  const { sandboxed, rules, env, doors, mcp } = deps;
  const kind = sandboxed && rules.network !== 'host' ? 'own' : 'host';
  return {
    kind,
    reaches: (given) =>
      kind === 'host'
        ? HOST_NETWORK.reaches(given)
        : {
            network: rules.network ?? 'proxy',
            local: localTargets(rules.allow_local ?? [], given).map(authorityText),
          },
    open: ({ given, token, tell }) =>
      kind === 'host'
        ? HOST
        : openRunNetwork({ rules, env, given, doors, token, mcp: mcp(token), tell }),
    for: (own) => createNetworkDoor({ ...deps, rules: networkRules(rules, own) }),
  };
};

const HOST: OpenNetwork = { view: 'host', env: {}, close: async () => undefined };

/** The machine's own network: of what runs without a sandbox. */
export const HOST_NETWORK: NetworkDoor = {
  kind: 'host',
  reaches: () => ({ network: 'host', local: [] }),
  open: () => HOST,
  for: () => HOST_NETWORK,
};

/** How programs in the sandbox reach the network, as the settings of all want it now. */
export interface WithNetwork {
  readonly network: () => NetworkDoor;
}
