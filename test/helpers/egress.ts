import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { localityOf } from '../../lib/sandbox/egress/address.ts';
import { NO_MCP } from '../../lib/sandbox/egress/mcp-door.ts';
import {
  createDaemonProbe,
  type NetworkEnvironment,
} from '../../lib/sandbox/egress/network-environment.ts';
import { createNetworkAccess } from '../../lib/sandbox/egress/networks.ts';
import type { NetworkNews } from '../../lib/sandbox/egress/proxy.ts';
import { createDoorsHere } from '../../lib/sandbox/egress/run-doors.ts';
import {
  type OpenNetwork,
  openRunNetwork,
  type RunNetworkOptions,
} from '../../lib/sandbox/egress/run-network.ts';
import type { OwnNetwork } from '../../lib/sandbox/view.ts';
import { atEnd } from './at-end.ts';

export interface Egress extends Omit<OpenNetwork, 'view'> {
  own: OwnNetwork;
  told: NetworkNews[];
  /** Sends this to a socket of the run, `out` if no other is named, and answers all that comes back. */
  say(text: string | Buffer, socket?: string): Promise<string>;
  /** The same, over one that stays open. */
  open(socket?: string): Socket;
}

/** Of the daemon's own API, in a world of `worldWith`; nobody listens there. */
export const OWN_PORT = 7;

/** A machine that is not this one: names as given, and loopback as far as `here` says stands for the world outside. */
export const worldWith = (
  names: Record<string, string[]>,
  { here = () => false, own = [] }: { here?: (address: string) => boolean; own?: string[] } = {},
): NetworkEnvironment & { asked: string[] } => {
  const asked: string[] = [];
  return {
    asked,
    resolve: async (host) => {
      asked.push(host);
      const found = names[host];
      if (found === undefined) throw new Error(`no address for ${host}`);
      return found;
    },
    locality: (address) => (here(address) ? undefined : localityOf(address, own)),
    isOwnName: (host) => host === 'this-machine',
    isOwnPort: (port) => port === OWN_PORT,
    cameBack: () => false,
    probe: createDaemonProbe(() => undefined),
  };
};

/** The host network, as programs without a sandbox have it. */
export const HOST_NETWORK = createNetworkAccess({
  ...{ sandboxed: false, rules: {}, env: {}, mcp: () => NO_MCP },
  doors: createDoorsHere(worldWith({})),
});

/** The way out of a run, closed at the end of the test. */
export const openEgress = (
  t: TestContext,
  {
    world = worldWith({}),
    ...options
  }: Partial<RunNetworkOptions> & { world?: NetworkEnvironment } = {},
): Egress => {
  const told: NetworkNews[] = [];
  const network = openRunNetwork({
    ...{ rules: {}, env: {}, given: {}, doors: createDoorsHere(world) },
    ...{ token: undefined, mcp: NO_MCP },
    tell: (one) => told.push(one),
    ...options,
  });
  atEnd(t, network.close);
  const open = (socket = 'out'): Socket => {
    const client = connect(join(network.view.dir, socket));
    client.on('error', () => undefined);
    atEnd(t, () => client.destroy());
    return client;
  };
  const say = async (text: string | Buffer, socket?: string): Promise<string> => {
    const client = open(socket);
    let heard = '';
    client.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1');
    });
    client.end(text);
    await new Promise((resolve) => client.once('close', resolve));
    return heard;
  };
  return { ...network, own: network.view, told, open, say };
};

/** A TCP server on loopback, until the end of the test. */
export const listen = async (
  t: TestContext,
  serve: (socket: Socket) => void,
  host = '127.0.0.1',
  port = 0,
): Promise<number> => onPort(t, createServer({ allowHalfOpen: true }, serve), host, port);

export const onPort = async (
  t: TestContext,
  server: Server,
  host = '127.0.0.1',
  port = 0,
): Promise<number> => {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
  });
  server.listen(port, host);
  await once(server, 'listening');
  atEnd(t, () => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
};

/** Sends back what it is sent. */
export const echo = (socket: Socket): void => {
  socket.pipe(socket);
};

export const CONNECT = (authority: string): string =>
  `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;

export const GET = (url: string): string =>
  `GET ${url} HTTP/1.1\r\nHost: whatever\r\nConnection: close\r\n\r\n`;
