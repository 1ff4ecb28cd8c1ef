import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NetworkRules } from '../../../store/records/applied.ts';
import type { Environment } from '../../tools/process/environment.ts';
import type { OwnNetwork } from '../sandbox.ts';
import { NET_DIR } from '../sandbox.ts';
import type { Authority } from './authority.ts';
import { join } from './join.ts';
import type { AnswerMcp } from './mcp-door.ts';
import { createProxy, type NetworkNews } from './proxy.ts';
import { reach, Unreached } from './reach.ts';
import { localTargets } from './rules.ts';
import { makeSocketDir } from './socket-dir.ts';
import { proxyEnvironment, type Source } from './upstream.ts';
import type { World } from './world.ts';

/** Inside, the way out and MCP are at this port of loopback. */
export const RELAY_PORT = 14_870;

export interface RunNetworkOptions {
  rules: NetworkRules;
  /** The daemon's own environment. */
  env: Source;
  /** What its programs are given by name: what of it leads to loopback is let through. */
  given: Source;
  world: World;
  mcp: AnswerMcp;
  tell: (told: NetworkNews) => void;
}

/** What a run is given of the network, for as long as it is open. */
export interface OpenNetwork<V = 'host' | OwnNetwork> {
  /** For the sandbox's view. */
  view: V;
  /** Comes last in the environment of its programs. */
  env: Environment;
  /** Ends all connections of the run, and removes its sockets. */
  close(): void;
}

/** Opens the way out of one run. When it returns, its sockets are listened on. Throws where they cannot be made. */
export const openRunNetwork = (options: RunNetworkOptions): OpenNetwork<OwnNetwork> => {
  const { rules, env, given, world, mcp, tell } = options;
  const local = localTargets(rules.allow_local ?? [], given);
  const allow = typeof rules.network === 'object' ? rules.network.allow : undefined;
  const way = { allow, local, env: { ...env, ...given } };
  const dir = makeSocketDir();
  const proxy = createProxy({ rules: way, world, port: RELAY_PORT, mcp, tell });
  const inside = onePerPort(local);
  const servers = [proxy, ...inside.map((target) => createDoor(target, world, tell))];
  const close = closer(servers, dir);
  try {
    servers.forEach((server, at) => {
      listen(server, joinPath(dir, at === 0 ? 'out' : `${at}`));
    });
  } catch (error) {
    close();
    throw error;
  }
  const ports = [`${RELAY_PORT}=out`, ...inside.map(({ port }, at) => `${port}=${at + 1}`)];
  const relay = [process.execPath, RELAY, NET_DIR, ...ports, '--'];
  return { view: { dir, relay }, env: proxyEnvironment(RELAY_PORT), close };
};

const RELAY = fileURLToPath(new URL('./relay.mjs', import.meta.url));

// Two addresses with one port are one port inside; the proxy tells them apart.
const onePerPort = (targets: readonly Authority[]): Authority[] => [
  ...new Map(
    targets.filter(({ port }) => port !== RELAY_PORT).map((target) => [target.port, target]),
  ).values(),
];

/** Whatever connects is led to one service of this machine, as plain bytes. */
const createDoor = (target: Authority, world: World, tell: (told: NetworkNews) => void): Server =>
  createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    reach(target, { kind: 'local', target }, world).then(
      (far) => {
        tell({ ...target, allowed: true });
        if (socket.destroyed) return far.destroy();
        return join(socket, far);
      },
      (error: unknown) => {
        if (error instanceof Unreached && error.status === 403)
          tell({ ...target, allowed: false, reason: error.message });
        socket.destroy();
      },
    );
  });

// A Unix socket is there as soon as this returns.
const listen = (server: Server, path: string): void => {
  let failure: Error | undefined;
  server.on('error', (error) => {
    failure = error;
  });
  server.listen(path);
  server.unref();
  if (!server.listening) throw failure ?? new Error(`There can be no socket at ${path}.`);
};

const closer = (servers: readonly Server[], dir: string): (() => void) => {
  const open = new Set<Socket>();
  for (const server of servers) {
    server.on('connection', (socket: Socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    });
  }
  return () => {
    for (const server of servers) server.close();
    for (const socket of open) socket.destroy();
    rmSync(dir, { recursive: true, force: true });
  };
};
