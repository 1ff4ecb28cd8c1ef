import type { Server } from 'node:net';
import type { Log } from '../log.ts';

const MINUTE = 60_000;

/**
 * Closes connections beyond half of the files that this process may open, which leaves the others for its work: the kernel
 * would reset them without an event. Logs it, once a minute.
 */
export const limitConnections = (listener: Server, files: number, log: Pick<Log, 'warn'>): void => {
  const most = Math.floor(files / 2);
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
