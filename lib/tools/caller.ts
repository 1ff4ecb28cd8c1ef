import { readdir, readFile, readlink } from 'node:fs/promises';
import { processesOf } from './process-tree.ts';

/** The two ports of a connection on this machine, as its server sees them. */
export interface Connection {
  localPort: number;
  remotePort: number;
}

/** A run, and the worktree that is its own: by both its processes are known. */
export interface CallingRun {
  marker: string;
  dir?: string;
}

/**
 * Whether the other end of a connection is held by a process of one of these runs. A sandbox leaves an agent the
 * network, and loopback with it. Who has let go of it already, and so awaits no answer, is taken for one of them: nobody
 * can tell any more. Always false where there is no /proc to ask.
 */
export const comesFromRun = async (
  connection: Connection,
  runs: readonly CallingRun[],
): Promise<boolean> => {
  if (runs.length === 0) return false;
  const inodes = await inodesOfOtherEnd(connection);
  if (inodes === undefined) return false;
  if (inodes.length === 0 || inodes.includes(NOBODY)) return true;
  const sockets = inodes.map((inode) => `socket:[${inode}]`);
  const pids = await Promise.all(runs.map(({ marker, ...traces }) => processesOf(marker, traces)));
  const holding = await Promise.all(pids.flat().map((pid) => holds(pid, sockets)));
  return holding.includes(true);
};

// How the table writes that no process has the socket open.
const NOBODY = '0';

// In /proc/net the client's socket is a line of its own: its local port is our remote one.
const inodesOfOtherEnd = async ({
  localPort,
  remotePort,
}: Connection): Promise<string[] | undefined> => {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'latin1').catch(() => '')),
  );
  if (tables.join('') === '') return undefined;
  return tables
    .join('\n')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([, local = '', remote = '']) => portOf(local) === remotePort && portOf(remote) === localPort,
    )
    .map((fields) => fields[9] ?? NOBODY);
};

const portOf = (address: string): number =>
  Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16);

const holds = async (pid: number, sockets: readonly string[]): Promise<boolean> => {
  const dir = `/proc/${pid}/fd`;
  const names = await readdir(dir).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`${dir}/${name}`).catch(() => '')));
  return links.some((link) => sockets.includes(link));
};
