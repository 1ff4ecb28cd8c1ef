import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { readKey, requireOperator } from './authorize.ts';
import { inputReader } from './input.ts';
import { watchKey } from './key-watch.ts';
import type { ApiKeyRef } from './local-only.ts';
import type { Route, SocketHandler } from './route.ts';
import { refuse } from './unparsed.ts';

/** The largest message of a client, in bytes. */
const LARGEST_MESSAGE = 32 * 1_048_576;
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;
const CLOSE_MS = 1000;

/**
 * Serves the WebSocket routes. A request is authorized and validated before the upgrade, and a refusal is a problem document
 * over HTTP. Returns a function that closes the open sockets.
 */
export const serveUpgrades = (
  listener: Server,
  routes: readonly Route[],
  service: Service,
  port: () => number,
): (() => Promise<void>) => {
  const paths = routes.filter(({ socket }) => socket !== undefined).map(pathOf);
  let server: WebSocketServer | undefined;
  listener.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A client may disconnect during the handshake.
    socket.on('error', () => socket.destroy());
    const opening = async (): Promise<void> => {
      await service.started;
      const { speak, key } = await admit(request, paths, { service, port: port() });
      server ??= await createServer();
      server.handleUpgrade(request, socket, head, (client) => {
        client.once(
          'close',
          watchKey(key, service, () => endRevoked(client)),
        );
        speak(client);
      });
    };
    opening().catch((error: unknown) => refuse(socket, error, service.log));
  });
  return async () => {
    if (server === undefined) return;
    const open = [...server.clients];
    for (const client of open) client.close(GOING_AWAY, 'The daemon is stopping');
    const timer = setTimeout(() => open.map((client) => client.terminate()), CLOSE_MS);
    await Promise.all(open.map((client) => client.readyState === client.CLOSED || closed(client)));
    clearTimeout(timer);
  };
};

const endRevoked = (client: WebSocket): void => {
  client.close(POLICY_VIOLATION, 'The API key was revoked');
  setTimeout(() => client.terminate(), CLOSE_MS).unref();
};

const closed = (client: { once(event: 'close', heard: () => void): unknown }): Promise<void> =>
  new Promise((resolve) => {
    client.once('close', resolve);
  });

// Loaded at the first upgrade: most daemons never have one.
const createServer = async (): Promise<WebSocketServer> => {
  const { WebSocketServer } = await import('ws');
  return new WebSocketServer({
    noServer: true,
    clientTracking: true,
    perMessageDeflate: false,
    maxPayload: LARGEST_MESSAGE,
  });
};

interface SocketPath {
  route: Route;
  pattern: RegExp;
}

const pathOf = (route: Route): SocketPath => ({
  route,
  pattern: new RegExp(`^${route.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
});

const admit = async (
  { headers, url = '/', socket }: IncomingMessage,
  paths: readonly SocketPath[],
  { service, port }: { service: Service; port: number },
): Promise<{ speak: SocketHandler; key: ApiKeyRef | undefined }> => {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const key = await readKey(headers, port, service);
  const { route, params } = match(paths, pathname);
  await requireOperator(socket, key, service);
  const query = Object.fromEntries(searchParams);
  const input = inputReader(route)({ params, query, headers, payload: undefined, key });
  const speak = await route.socket?.(input as never, service);
  if (speak === undefined) throw new ServiceError('internal', 'The endpoint has no handler.');
  return { speak, key };
};

const match = (paths: readonly SocketPath[], pathname: string) => {
  for (const { route, pattern } of paths) {
    const found = pattern.exec(pathname);
    if (found !== null) return { route, params: { ...found.groups } };
  }
  throw new ServiceError(
    'route_not_found',
    `There is no WebSocket at ${pathname}. The endpoints are listed in /openapi.json.`,
  );
};
