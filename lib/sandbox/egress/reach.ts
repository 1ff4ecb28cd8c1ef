import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { type Authority, authorityText } from './authority.ts';
import type { Route } from './egress-policy.ts';
import type { NetworkEnvironment } from './network-environment.ts';
import type { Upstream } from './upstream.ts';

const CONNECT_MS = 20_000;

/** Why there is no connection, as told to the program. */
export class Unreached extends Error {
  override readonly name = 'Unreached';
  readonly status: 403 | 502;
  constructor(status: 403 | 502, reason: string) {
    super(reason);
    this.status = status;
  }
}

/** Opens a connection along a route. Rejects with Unreached. */
export const reach = async (
  goal: Authority,
  route: Route,
  network: NetworkEnvironment,
): Promise<Socket> => {
  if (route.kind === 'refused') throw new Unreached(403, route.reason);
  if (route.kind === 'lost') throw new Unreached(502, route.reason);
  if (route.kind === 'local') return reachLocal(route.target, network);
  if (route.kind === 'upstream') return tunnel(goal, route.upstream);
  return firstOf(goal, route.addresses, network);
};

/** Opens a connection to the operator's proxy. */
export const reachUpstream = async ({ host, port, secure }: Upstream): Promise<Socket> => {
  const socket = await open(host, port);
  return secure ? connectTls({ socket, servername: host, ALPNProtocols: ['http/1.1'] }) : socket;
};

/** Opens a connection to a service of this machine, but never to a Dossier daemon. */
const reachLocal = async (
  { host, port }: Authority,
  network: NetworkEnvironment,
): Promise<Socket> => {
  const { probe } = network;
  const addresses = host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
  const before = await probe.listeners(port);
  const told = await Promise.all(addresses.map((address) => probe.ask(address, port)));
  if (told.includes('daemon'))
    throw new Unreached(403, `${host}:${port} is a Dossier daemon, which runs may not reach`);
  if (told.includes('silent'))
    throw new Unreached(502, `${host}:${port} does not answer and may be a Dossier daemon`);
  const socket = await inTurn(addresses, port);
  if ((await probe.listeners(port)) === before) return socket;
  socket.destroy();
  throw new Unreached(502, `${host}:${port} has just been restarted: try again`);
};

const firstOf = async (
  { host, port }: Authority,
  addresses: readonly string[],
  network: NetworkEnvironment,
): Promise<Socket> => {
  const socket = await inTurn(addresses, port);
  if (!network.cameBack(socket.localAddress, socket.remoteAddress)) return socket;
  socket.destroy();
  throw new Unreached(403, `${host} is this machine, which runs may not reach`);
};

const inTurn = async (
  [address = '', ...more]: readonly string[],
  port: number,
): Promise<Socket> => {
  try {
    return await open(address, port);
  } catch (error) {
    if (more.length === 0) throw error;
    return inTurn(more, port);
  }
};

const open = (host: string, port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true, keepAlive: true });
    const fail = (why: string): void => {
      socket.destroy();
      reject(new Unreached(502, `${host}:${port} cannot be reached: ${why}`));
    };
    socket.setTimeout(CONNECT_MS, () => fail('no answer'));
    socket.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      socket.removeAllListeners('error');
      // Until the caller adds its own listener.
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
  });

const tunnel = async (goal: Authority, upstream: Upstream): Promise<Socket> => {
  const socket = await reachUpstream(upstream);
  const { authorization } = upstream;
  const path = authorityText(goal);
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      socket.destroy();
      reject(new Unreached(502, `the proxy of the daemon's environment failed: ${why}`));
    };
    const asked = request({
      method: 'CONNECT',
      path,
      headers: { host: path, ...(authorization && { 'proxy-authorization': authorization }) },
      createConnection: () => socket,
      timeout: CONNECT_MS,
    });
    asked.once('timeout', () => fail('no answer'));
    asked.once('error', (error) => fail(error.message));
    asked.once('response', ({ statusCode }) => fail(`it answered ${statusCode}`));
    asked.once('connect', ({ statusCode }, through, head) => {
      if (statusCode !== 200) return fail(`it answered ${statusCode}`);
      through.setTimeout(0);
      if (head.length > 0) through.unshift(head);
      through.on('error', () => through.destroy());
      resolve(through as Socket);
    });
    asked.end();
  });
};

/** Pipes two connections into each other until both have ended or one has failed. */
export const join = (near: Duplex, far: Duplex): void => {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.pipe(other);
    one.on('error', () => other.destroy());
    one.on('close', () => {
      if (one.readableEnded) other.end();
      else other.destroy();
    });
  }
};
