import type { Server } from 'node:net';
import type { Log } from '../log.ts';

const MINUTE = 60_000;

/**
 * Closes connections of a listener beyond a quarter of the files that this process may open. There are two, for TCP and for
 * the Unix socket, and half of the files are left for the work: the kernel would reset connections without an event. Logs it,
 * once a minute.
 */
export const limitConnections = (listener: Server, files: number, log: Pick<Log, 'warn'>): void => {
  const most = Math.floor(files / 4);
  listener.maxConnections = most;
  let loggedAt = Number.NEGATIVE_INFINITY;
  listener.on('drop', () => {
    if (performance.now() - loggedAt < MINUTE) return;
    loggedAt = performance.now();
    log.warn(
      { most },
      'new connections are closed: raise the limit of open files (ulimit -n 4096)',
    );
  });
};
