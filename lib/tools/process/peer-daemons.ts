import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { coalesceReads } from '../../../store/base/async.ts';
import { holdsFile, mayActAsUs } from './processes.ts';
import type { Runs } from './runs.ts';

/** A daemon of this user that has a run with host loopback. */
export interface PeerDaemon {
  pid: number;
  /** The pid of the process that adopts orphans of its runs; 0 if unknown. */
  reaper: number;
  /** When its first unsandboxed run started, in clock ticks since boot; `NEVER` without one. */
  since: number;
}

/**
 * While a run has host loopback, this process holds an abstract socket whose name tells the other daemons of the machine so.
 * No other process can remove the socket, and it ends with the process. Linux only.
 */
export const announceHostLoopback = (runs: Runs): void => {
  let announced: { name: string; server: Server } | undefined;
  const announce = (daemon: PeerDaemon | undefined): void => {
    const name = daemon && nameOf(daemon);
    if (name === announced?.name) return;
    const former = announced;
    announced = name === undefined ? undefined : { name, server: bind(name) };
    // Keep both names for a while: a reader of the table may have passed the new name and not yet reached the old one.
    const close = () => former?.server.close();
    if (daemon === undefined) close();
    else setTimeout(close, LINGER_MS).unref();
  };
  const update = (): void => {
    const daemon = ownAnnouncement(runs);
    announce(daemon);
    if (daemon === undefined) return;
    void runs.reaper().then((pid = 0) => announce(ownAnnouncement(runs, pid)));
  };
  if (process.platform === 'linux') runs.follow(update);
};

// Reading the table takes far less, even on a busy machine.
const LINGER_MS = 10_000;

/** What this process announces; undefined while none of its runs has host loopback. */
export const ownAnnouncement = (runs: Runs, reaper = 0): PeerDaemon | undefined => {
  const open = [...runs.live].filter(({ loopback }) => loopback);
  const starts = open.map(({ ticks, sandboxed }) => (sandboxed ? NEVER : ticks));
  return open.length === 0 ? undefined : { pid: process.pid, reaper, since: Math.min(...starts) };
};

/** Later than the start of any process. */
const NEVER = 2 ** 52;

/**
 * The other daemons of this user that have such runs. Ignores a name whose socket the named process does not hold and, for
 * root, daemons of other users, whose runs are not root.
 */
export const findPeerDaemons = async (): Promise<PeerDaemon[]> => {
  const table = await names();
  return [...table.matchAll(NAME)].flatMap(([, inode, ...numbers]) => {
    const [pid = 0, reaper = 0, since = 0] = numbers.map(Number);
    const theirs =
      pid !== process.pid && mayActAsUs(pid) && holdsFile(pid, `socket:[${inode}]`, false);
    return theirs ? { pid, reaper, since } : [];
  });
};

const names = coalesceReads(() => readFile('/proc/net/unix', 'latin1').catch(() => ''));

const NAME = / (\d+) @dossier-runs\/(\d+)\/(\d+)\/(\d+)/g;

const nameOf = ({ pid, reaper, since }: PeerDaemon): string =>
  `\0dossier-runs/${pid}/${reaper}/${since}`;

// Binds synchronously, so that the socket exists before the program starts. It answers no connection.
const bind = (name: string): Server => {
  const server = createServer((socket) => socket.destroy());
  server.on('error', () => undefined);
  server.listen(name);
  server.unref();
  return server;
};
