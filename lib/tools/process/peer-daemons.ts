import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { sharedRead } from '../../../store/base/shared-read.ts';
import { holdsFile, mayActAsUs } from './processes.ts';
import type { Runs } from './runs.ts';

/** A daemon of this user that has a run with the machine's loopback. */
export interface Keeper {
  pid: number;
  /** Who gets the orphans of its runs; 0 where that is not known. */
  reaper: number;
  /** When the first of them that leaves orphans was started, in clock ticks since the machine was; else `NEVER`. */
  since: number;
}

/**
 * While a run has the machine's loopback, this process has an abstract socket whose name says so to every other daemon of
 * the machine: nobody can remove it, and it ends with the process. Nothing where there are no such sockets.
 */
export const announceRuns = (runs: Runs): void => {
  let told: { name: string; server: Server } | undefined;
  const tell = (keeper: Keeper | undefined): void => {
    const name = keeper && nameOf(keeper);
    if (name === told?.name) return;
    const former = told;
    told = name === undefined ? undefined : { name, server: bind(name) };
    // Who reads the table this moment may be past the place of the new name, and not yet at that of the old one.
    const close = () => former?.server.close();
    if (keeper === undefined) close();
    else setTimeout(close, LINGER_MS).unref();
  };
  const update = (): void => {
    const keeper = keeperOf(runs);
    tell(keeper);
    if (keeper === undefined) return;
    void runs.reaper().then((pid = 0) => tell(keeperOf(runs, pid)));
  };
  if (process.platform === 'linux') runs.follow(update);
};

// The table is read in far less, however busy the machine is.
const LINGER_MS = 10_000;

/** What this process would say of itself; undefined while no run of its has the machine's loopback. */
export const keeperOf = (runs: Runs, reaper = 0): Keeper | undefined => {
  const open = [...runs.live].filter(({ loopback }) => loopback);
  const starts = open.map(({ ticks, sandboxed }) => (sandboxed ? NEVER : ticks));
  return open.length === 0 ? undefined : { pid: process.pid, reaper, since: Math.min(...starts) };
};

/** Later than any process. */
const NEVER = 2 ** 52;

/**
 * The other daemons of this user that have such runs now. A name that its process does not hold counts for nothing; nor does
 * to root the daemon of another user, whose runs are not root.
 */
export const otherKeepers = async (): Promise<Keeper[]> => {
  const table = await names();
  return [...table.matchAll(NAME)].flatMap(([, inode, ...numbers]) => {
    const [pid = 0, reaper = 0, since = 0] = numbers.map(Number);
    const theirs =
      pid !== process.pid && mayActAsUs(pid) && holdsFile(pid, `socket:[${inode}]`, false);
    return theirs ? { pid, reaper, since } : [];
  });
};

const names = sharedRead(() => readFile('/proc/net/unix', 'latin1').catch(() => ''));

const NAME = / (\d+) @dossier-runs\/(\d+)\/(\d+)\/(\d+)/g;

const nameOf = ({ pid, reaper, since }: Keeper): string =>
  `\0dossier-runs/${pid}/${reaper}/${since}`;

// Taken at once, so that it is there before the program is. Nobody is ever answered.
const bind = (name: string): Server => {
  const server = createServer((socket) => socket.destroy());
  server.on('error', () => undefined);
  server.listen(name);
  server.unref();
  return server;
};
