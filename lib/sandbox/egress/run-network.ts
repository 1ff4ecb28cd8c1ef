import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { orElse } from '../../../store/base/attempt.ts';
import type { NetworkRules } from '../../../store/records/applied.ts';
import type { Environment } from '../../tools/process/environment.ts';
import type { OwnNetwork } from '../sandbox.ts';
import { NET_DIR } from '../sandbox.ts';
import type { Authority } from './authority.ts';
import type { Doors } from './doors.ts';
import type { AnswerMcp } from './mcp-door.ts';
import type { NetworkNews } from './proxy.ts';
import { localTargets } from './rules.ts';
import { makeSocketDir } from './socket-dir.ts';
import { proxiesOf, proxyEnvironment, type Source } from './upstream.ts';

/** Inside, the way out and MCP are at this port of loopback. */
export const RELAY_PORT = 14_870;

export interface RunNetworkOptions {
  rules: NetworkRules;
  /** The daemon's own environment. */
  env: Source;
  /** What its programs are given by name: what of it leads to loopback is let through. */
  given: Source;
  /** Where what it sends is read. */
  doors: Doors;
  /** By which it is served MCP. */
  token: string | undefined;
  mcp: AnswerMcp;
  tell: (told: NetworkNews) => void;
}

/** What a run is given of the network, for as long as it is open. */
export interface OpenNetwork<V = 'host' | OwnNetwork> {
  /** For the sandbox's view. */
  view: V;
  /** Comes last in the environment of its programs. */
  env: Environment;
  /** Ends all connections of the run, and removes its sockets. Resolves once all that it asked for is told. */
  close(): Promise<void>;
}

/** Opens the way out of one run. Its relay waits until the sockets are listened on. Throws where there is no place for them. */
export const openRunNetwork = (options: RunNetworkOptions): OpenNetwork<OwnNetwork> => {
  const { rules, env, given, doors, token, mcp, tell } = options;
  const local = localTargets(rules.allow_local ?? [], given);
  const allow = typeof rules.network === 'object' ? rules.network.allow : undefined;
  const way = { allow, local, env: proxiesOf({ ...env, ...given }) };
  const dir = makeSocketDir();
  const inside = onePerPort(local);
  const task = { dir, port: RELAY_PORT, rules: way, inside, token };
  const leave = doors.open(task, { mcp, tell, lost: (reason) => tell(lostNews(reason)) });
  const close = async (): Promise<void> => {
    await leave();
    // What stays is swept at the next start.
    orElse(() => rmSync(dir, { recursive: true, force: true }), undefined);
  };
  const ports = [`${RELAY_PORT}=out`, ...inside.map(({ port }, at) => `${port}=${at + 1}`)];
  const relay = [process.execPath, RELAY, NET_DIR, ...ports, '--'];
  return { view: { dir, relay }, env: proxyEnvironment(RELAY_PORT), close };
};

// All that it had is gone: there is no single goal to name.
const lostNews = (reason: string): NetworkNews => ({
  ...{ host: '*', port: 0, allowed: false },
  reason: `${reason}: this run has no network any more`,
});

const RELAY = fileURLToPath(new URL('./relay.mjs', import.meta.url));

// Two addresses with one port are one port inside; the proxy tells them apart.
const onePerPort = (targets: readonly Authority[]): Authority[] => [
  ...new Map(
    targets.filter(({ port }) => port !== RELAY_PORT).map((target) => [target.port, target]),
  ).values(),
];
