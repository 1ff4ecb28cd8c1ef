import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join as joinPath } from 'node:path';
import { type Authority, isLoopback, readAuthority } from './authority.ts';
import { createHttp, serveHttp } from './bounded-http.ts';
import {
  type Doors,
  type McpPort,
  type RunEvents,
  type RunTask,
  reportOncePerTarget,
} from './doors.ts';
import { createRunLimits, type RunLimits } from './limits.ts';
import { type AnswerMcp, answerMcp, problem } from './mcp-door.ts';
import type { NetworkEnvironment } from './network-environment.ts';
import { createProxy, type NetworkNews } from './proxy.ts';
import { join, reach, Unreached } from './reach.ts';

/**
 * Listens on the sockets of one run until the returned function is called: `out` for the proxy, `1` and so on for services of
 * this machine. Throws if a socket cannot be created.
 */
const openRunDoors = (
  { dir, port, rules, inside, token }: RunTask,
  { tell, mcp }: Pick<RunEvents, 'tell' | 'mcp'>,
  machine: NetworkEnvironment,
): (() => void) => {
  const limits = createRunLimits();
  const network = {
    ...machine,
    resolve: (host: string) => limits.lookups(() => machine.resolve(host)),
  };
  const door = { token, limits: limits.mcp, answer: mcp };
  const proxy = createProxy({ rules, network, port, mcp: door, limits, tell });
  const services = inside.map((target) => leadTo(target, network, tell));
  const servers: Server[] = [];
  const close = (): void => {
    for (const server of servers) server.close();
    limits.close();
  };
  try {
    for (const [at, serve] of services.entries())
      servers.push(listen(joinPath(dir, `${at + 1}`), limits, serve));
    // Last: the relay takes a connection to it as the sign that all listen.
    servers.push(listen(joinPath(dir, 'out'), limits, proxy));
    return close;
  } catch (error) {
    close();
    throw error;
  }
};

/** Connects a socket to one service of this machine, as plain bytes. */
const leadTo =
  (target: Authority, network: NetworkEnvironment, tell: (told: NetworkNews) => void) =>
  (socket: Socket): void => {
    reach(target, { kind: 'local', target }, network).then(
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
  };

// Listening on a Unix socket is synchronous.
const listen = (path: string, limits: RunLimits, serve: (socket: Socket) => void): Server => {
  let failure: Error | undefined;
  const server = serverWithin(limits, serve);
  server.on('error', (error) => {
    failure = error;
  });
  server.listen(path);
  server.unref();
  if (!server.listening) throw failure ?? new Error(`Cannot listen on the socket ${path}.`);
  return server;
};

const serverWithin = (limits: RunLimits, serve: (socket: Socket) => void): Server =>
  createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) =>
    limits.admit(socket, () => serve(socket)),
  );

/** Serves the connections of runs in this process. */
export const createDoorsHere = (network: NetworkEnvironment): Doors => ({
  prepare: () => undefined,
  open: (task, { tell, mcp, lost }) => {
    try {
      const close = openRunDoors(task, { tell: reportOncePerTarget(tell), mcp }, network);
      return async () => close();
    } catch (error) {
      lost(String(error));
      return async () => undefined;
    }
  },
  openPort: openMcpPort,
});

/** Opens a loopback port that serves only MCP, to the holder of this token. */
export const openMcpPort = async (token: string | undefined, mcp: AnswerMcp): Promise<McpPort> => {
  const limits = createRunLimits();
  const door = { token, limits: limits.mcp, answer: mcp };
  const http = createHttp(limits, async (request, response) => {
    if (isForUs(request.headers)) await answerMcp(request, response, door);
    else problem(response, 403, 'Only programs on this machine are served');
  });
  http.on('connect', (_request, socket) => socket.destroy());
  const server = serverWithin(limits, (socket) => serveHttp(http, socket));
  server.listen(0, '127.0.0.1');
  server.unref();
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    limits.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
};

// Refuses web pages (DNS rebinding) before checking the token.
const isForUs = ({ host = '', origin }: IncomingHttpHeaders): boolean =>
  origin === undefined && isLoopback(readAuthority(host, 80)?.host ?? '');
