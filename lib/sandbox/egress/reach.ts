import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { type Authority, authorityText } from './authority.ts';
import type { Way } from './egress-policy.ts';
import type { World } from './network-environment.ts';
import type { Upstream } from './upstream.ts';

const CONNECT_MS = 20_000;

/** Why there is no connection, for the program that asked for it. */
export class Unreached extends Error {
  override readonly name = 'Unreached';
  readonly status: 403 | 502;
  constructor(status: 403 | 502, reason: string) {
    super(reason);
    this.status = status;
  }
}

/** A connection along a way, which bytes can be sent by. Rejects with Unreached. */
export const reach = async (goal: Authority, way: Way, world: World): Promise<Socket> => {
  if (way.kind === 'refused') throw new Unreached(403, way.reason);
  if (way.kind === 'lost') throw new Unreached(502, way.reason);
  if (way.kind === 'local') return reachLocal(way.target, world);
  if (way.kind === 'upstream') return tunnel(goal, way.upstream);
  return firstOf(goal, way.addresses, world);
};

/** A connection to the operator's own proxy. */
export const reachUpstream = async ({ host, port, secure }: Upstream): Promise<Socket> => {
  const socket = await open(host, port);
  return secure ? connectTls({ socket, servername: host, ALPNProtocols: ['http/1.1'] }) : socket;
};

/** A connection to a service of this machine; to a daemon of Dossier's never. */
const reachLocal = async ({ host, port }: Authority, world: World): Promise<Socket> => {
  const { probe } = world;
  const addresses = host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
  const before = await probe.listeners(port);
  const told = await Promise.all(addresses.map((address) => probe.ask(address, port)));
  if (told.includes('daemon'))
    throw new Unreached(403, `${host}:${port} is a Dossier daemon, which no run reaches`);
  if (told.includes('silent'))
    throw new Unreached(
      502,
      `${host}:${port} does not say what it is, and may be a Dossier daemon`,
    );
  const socket = await inTurn(addresses, port);
  if ((await probe.listeners(port)) === before) return socket;
  socket.destroy();
  throw new Unreached(502, `${host}:${port} was started anew just now: try again`);
};

const firstOf = async (
  { host, port }: Authority,
  addresses: readonly string[],
  world: World,
): Promise<Socket> => {
  const socket = await inTurn(addresses, port);
  if (!world.cameBack(socket.localAddress, socket.remoteAddress)) return socket;
  socket.destroy();
  throw new Unreached(403, `${host} is this machine, which runs do not reach`);
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
      // Until somebody else listens.
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
      reject(new Unreached(502, `the proxy that the daemon was started with: ${why}`));
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

/** Passes on what either side sends, and its end, until both have ended or one has failed. */
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
