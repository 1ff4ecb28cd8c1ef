import { readdir, readFile, readlink } from 'node:fs/promises';
import { processesOf } from './process-tree.ts';

/** The two ports of a connection on this machine, as its server sees them. */
export interface Connection {
  localPort: number;
  remotePort: number;
}

/**
 * Whether the other end of a connection is held by a process of one of these runs. A sandbox leaves an agent the
 * network, and loopback with it. Always false where there is no /proc to ask.
 */
export const comesFromRun = async (
  connection: Connection,
  markers: readonly string[],
): Promise<boolean> => {
  if (markers.length === 0) return false;
  const inode = await inodeOfOtherEnd(connection);
  if (inode === undefined) return false;
  const pids = (await Promise.all(markers.map(processesOf))).flat();
  const holding = await Promise.all(pids.map((pid) => holds(pid, `socket:[${inode}]`)));
  return holding.includes(true);
};

// In /proc/net the client's socket is a line of its own: its local port is our remote one.
const inodeOfOtherEnd = async ({
  localPort,
  remotePort,
}: Connection): Promise<string | undefined> => {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'latin1').catch(() => '')),
  );
  const lines = tables
    .join('\n')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const found = lines.find(
    ([, local = '', remote = '']) => portOf(local) === remotePort && portOf(remote) === localPort,
  );
  return found?.[9];
};

const portOf = (address: string): number =>
  Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16);

const holds = async (pid: number, socket: string): Promise<boolean> => {
  const dir = `/proc/${pid}/fd`;
  const names = await readdir(dir).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`${dir}/${name}`).catch(() => '')));
  return links.includes(socket);
};
