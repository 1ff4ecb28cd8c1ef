import type { Environment } from '../../tools/process/environment.ts';
import type { OwnNetwork } from '../sandbox.ts';
import type { AnswerMcp } from './mcp-door.ts';
import type { NetworkNews } from './proxy.ts';
import type { NetworkRules } from './rules.ts';
import { openRunNetwork } from './run-network.ts';
import type { Source } from './upstream.ts';
import type { World } from './world.ts';

/** What a run is given of the network, for as long as it is open. */
export interface OpenNetwork {
  /** For the sandbox's view. */
  view: 'host' | OwnNetwork;
  /** Comes last in the environment of its programs. */
  env: Environment;
  close(): void;
}

interface NetworkRun {
  /** What its programs are given by name: what of it leads to loopback is let through. */
  given: Source;
  /** The token by which it reaches the daemon's MCP server; undefined: it does not. */
  token: string | undefined;
  tell: (told: NetworkNews) => void;
}

/** How the programs of one provider reach the network. */
export interface NetworkDoor {
  /** `host`: they have the machine's own, loopback and all. */
  readonly kind: 'own' | 'host';
  /** Throws where there can be no socket. */
  open(run: NetworkRun): OpenNetwork;
  /** The door of a provider whose own settings win over those of all. */
  for(own: NetworkRules): NetworkDoor;
}

export interface NetworkDeps {
  /** Without a sandbox nothing has a network of its own. */
  sandboxed: boolean;
  rules: NetworkRules;
  env: Source;
  world: World;
  /** Answers for the run with this token, what is presented by `presented`. */
  mcp: (token: string | undefined) => AnswerMcp;
}

/** Doors to the network for all that is started in the sandbox. */
export const createNetworkDoor = (deps: NetworkDeps): NetworkDoor => {
  const { sandboxed, rules, env, world, mcp } = deps;
  const kind = sandboxed && rules.network !== 'host' ? 'own' : 'host';
  return {
    kind,
    open: ({ given, token, tell }) => {
      if (kind === 'host') return HOST;
      const { own, ...network } = openRunNetwork({
        rules,
        env,
        given,
        world,
        mcp: mcp(token),
        tell,
      });
      return { view: own, ...network };
    },
    for: (own) =>
      createNetworkDoor({
        ...deps,
        rules: {
          network: own.network ?? rules.network,
          allow_local: [...(rules.allow_local ?? []), ...(own.allow_local ?? [])],
        },
      }),
  };
};

const HOST: OpenNetwork = { view: 'host', env: {}, close: () => undefined };

/** The machine's own network: of what runs without a sandbox. */
export const HOST_NETWORK: NetworkDoor = {
  kind: 'host',
  open: () => HOST,
  for: () => HOST_NETWORK,
};

const MOST_TOLD = 200;

/** Passes on each goal once for each outcome, and no more than a bounded number of them. */
export const onceEach = (tell: (told: NetworkNews) => void): ((told: NetworkNews) => void) => {
  const known = new Set<string>();
  return (told) => {
    const key = `${told.host} ${told.port} ${told.allowed}`;
    if (known.has(key) || known.size >= MOST_TOLD) return;
    known.add(key);
    tell(told);
  };
};

/** How programs in the sandbox reach the network, as the settings of all want it now. */
export interface WithNetwork {
  readonly network: () => NetworkDoor;
}
