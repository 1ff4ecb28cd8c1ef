import { createServer, type Server, type Socket } from 'node:net';
import { join as joinPath } from 'node:path';
import type { Authority } from './authority.ts';
import type { RunEvents, RunTask } from './doors.ts';
import { join } from './join.ts';
import { createRunLimits, type RunLimits } from './limits.ts';
import { createProxy, type NetworkNews } from './proxy.ts';
import { reach, Unreached } from './reach.ts';
import type { World } from './world.ts';

/**
 * Listens on the sockets of one run, until the returned function is called: `out` for the proxy, `1` and so on for services
 * of this machine. Throws where there can be no socket.
 */
export const openRunDoors = (
  { dir, port, rules, inside, token }: RunTask,
  { tell, mcp }: Pick<RunEvents, 'tell' | 'mcp'>,
  machine: World,
): (() => void) => {
  const limits = createRunLimits();
  const world = {
    ...machine,
    resolve: (host: string) => limits.lookups(() => machine.resolve(host)),
  };
  const door = { token, limits: limits.mcp, answer: mcp };
  const proxy = createProxy({ rules, world, port, mcp: door, limits, tell });
  const services = inside.map((target) => leadTo(target, world, tell));
  const servers: Server[] = [];
  const close = (): void => {
    for (const server of servers) server.close();
    limits.close();
  };
  try {
    for (const [at, serve] of services.entries())
      servers.push(listen(joinPath(dir, `${at + 1}`), limits, serve));
    // Last: a connection to it says that all are listened on.
    servers.push(listen(joinPath(dir, 'out'), limits, proxy));
    return close;
  } catch (error) {
    close();
    throw error;
  }
};

/** Leads a connection to one service of this machine, as plain bytes. */
const leadTo =
  (target: Authority, world: World, tell: (told: NetworkNews) => void) =>
  (socket: Socket): void => {
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
  };

// A Unix socket is there as soon as this returns.
const listen = (path: string, limits: RunLimits, serve: (socket: Socket) => void): Server => {
  let failure: Error | undefined;
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) =>
    limits.admit(socket, () => serve(socket)),
  );
  server.on('error', (error) => {
    failure = error;
  });
  server.listen(path);
  server.unref();
  if (!server.listening) throw failure ?? new Error(`There can be no socket at ${path}.`);
  return server;
};
