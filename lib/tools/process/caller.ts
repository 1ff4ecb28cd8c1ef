import { type Connection, peerOf, type SocketPeer } from './client-socket.ts';
import { findPeerDaemons, ownAnnouncement, type PeerDaemon } from './peer-daemons.ts';
import {
  descendants,
  holdsFile,
  type ProcessRow,
  readProcess,
  readProcesses,
  standsIn,
} from './processes.ts';
import { OWN_LIMIT } from './run-limit.ts';
import type { Runs } from './runs.ts';

/**
 * Which process makes a call. `operator`: no evidence against it. `other_user`: the socket belongs to another user. `run`: a
 * process of a run holds the socket. `untold`: a run has host loopback, and no holder was found or it may belong to a run.
 * `gone`: the socket was closed. `unseen`: like `untold`, without /proc. `elsewhere`: like `untold`, and only another daemon
 * of this user has such runs.
 */
export type Caller = 'operator' | 'other_user' | 'run' | 'untold' | 'elsewhere' | 'gone' | 'unseen';

export interface Callers {
  /** Attributes a connection once; one that was refused is checked again. */
  callerOf(connection: Connection): Promise<Caller>;
}

/** How processes of runs are recognized. */
export interface RunTraits {
  /** Daemons whose runs have host loopback, this one included. Their descendants belong to runs. */
  daemons: readonly PeerDaemon[];
  /** Directories used by one run only. */
  dirs: readonly string[];
  /** The pid of this daemon. Its ancestors do not count as runs, even if another daemon started them. */
  self: number;
  /** The mark and lock limit of this daemon: processes with the same values count as the operator. */
  own_mark?: string | undefined;
  own_limit: number;
}

const byPath = new WeakSet<Connection>();

/**
 * Marks a connection to the Unix socket, which only this user and root can open and which no sandbox shows. The kernel does
 * not tell which process holds its other end.
 */
export const markUnixConnection = (connection: Connection): void => void byPath.add(connection);

/** Attributes callers. The user is looked up once per connection; /proc is read only while a run has host loopback. */
export const createCallers = (runs: Runs, own_mark?: string): Callers => {
  const clients = new WeakMap<Connection, Promise<SocketPeer>>();
  const cleared = new WeakSet<Connection>();
  const attributeByTable = async (connection: Connection): Promise<Caller> => {
    const client = clients.get(connection) ?? peerOf(connection);
    clients.set(connection, client);
    return attribute(await client, runs, own_mark);
  };
  return {
    callerOf: async (connection) => {
      if (cleared.has(connection)) return 'operator';
      const caller = byPath.has(connection)
        ? await attributeByPath(runs, own_mark)
        : await attributeByTable(connection);
      // A run that starts later cannot hold this connection.
      if (caller === 'operator') cleared.add(connection);
      return caller === 'untold' && ownAnnouncement(runs) === undefined ? 'elsewhere' : caller;
    },
  };
};

const attribute = async (client: SocketPeer, runs: Runs, own_mark?: string): Promise<Caller> => {
  if (client === 'gone') return 'gone';
  if (client === 'unknown') return ownAnnouncement(runs) === undefined ? 'operator' : 'unseen';
  if (client.uid !== OWN_UID) return client.uid === ROOT ? 'operator' : 'other_user';
  return judge(client.inode, await runTraits(runs, own_mark));
};

// An agent without a sandbox can open the socket, too.
const attributeByPath = async (runs: Runs, own_mark?: string): Promise<Caller> => {
  const traits = await runTraits(runs, own_mark);
  if (traits.daemons.length === 0) return 'operator';
  const suspected = excludeAncestors(await readProcesses(), traits);
  return suspected.daemons.length === 0 ? 'operator' : 'untold';
};

// Root can do everything the daemon can.
const ROOT = 0;
const OWN_UID = process.getuid?.();

const runTraits = async (runs: Runs, own_mark?: string): Promise<RunTraits> => {
  const others = await findPeerDaemons();
  const own = ownAnnouncement(runs) && ownAnnouncement(runs, await runs.reaper());
  const dirs = [...runs.live].flatMap(({ loopback, dir }) => (loopback && dir ? dir : []));
  const daemons = own === undefined ? others : [own, ...others];
  return { daemons, dirs, self: process.pid, own_mark, own_limit: OWN_LIMIT };
};

const judge = async (inode: string, traits: RunTraits): Promise<Caller> => {
  if (traits.daemons.length === 0) return 'operator';
  const target = `socket:[${inode}]`;
  const rows = await readProcesses();
  const suspected = excludeAncestors(rows, traits);
  if (suspected.daemons.length === 0) return 'operator';
  const inside = findRunProcesses(rows, suspected);
  for (const pid of inside) if (holdsFile(pid, target, true)) return 'run';
  const others = rows.filter(({ pid }) => !inside.has(pid)).toReversed();
  const holder = others.find((row) => holdsFile(row.pid, target, row.zombie));
  if (holder === undefined || isUnknownOrigin(holder, rows, suspected)) return 'untold';
  // The pid may have been reused.
  const stays = readProcess(holder.pid)?.started === holder.started;
  return stays && holdsFile(holder.pid, target, holder.zombie) ? 'operator' : 'untold';
};

/** Removes the daemons among the ancestors of this one: a run that started this daemon is its operator. */
export const excludeAncestors = (rows: readonly ProcessRow[], traits: RunTraits): RunTraits => {
  const daemons = traits.daemons.filter(
    ({ pid }) => pid === traits.self || !descendants(rows, [pid]).has(traits.self),
  );
  return { ...traits, daemons };
};

/** The processes of runs, recognized by lock limit, mark, ancestry or working directory. */
export const findRunProcesses = (
  rows: readonly ProcessRow[],
  { daemons, dirs, self, own_mark, own_limit }: RunTraits,
): Set<number> => {
  const daemonPids = new Set(daemons.map(({ pid }) => pid));
  const roots = rows.filter(
    ({ ppid, mark, limit, homeless_in }) =>
      daemonPids.has(ppid) ||
      limit < own_limit ||
      (mark !== undefined && mark !== own_mark) ||
      dirs.some((dir) => standsIn(homeless_in, dir)),
  );
  const found = descendants(
    rows,
    roots.map(({ pid }) => pid),
  );
  found.delete(self);
  return found;
};

/**
 * Whether a process may be an orphan of a run: it or one of its ancestors is a child of the reaper of orphans and started
 * after the first run, or its ancestors cannot all be read.
 */
export const isUnknownOrigin = (
  row: ProcessRow,
  rows: readonly ProcessRow[],
  { daemons }: Pick<RunTraits, 'daemons'>,
): boolean => {
  const byPid = new Map(rows.map((one) => [one.pid, one]));
  let at = row;
  while (at.ppid !== 0) {
    if (isOrphan(at, daemons)) return true;
    const parent = byPid.get(at.ppid);
    // A parent that is younger than its child has a reused pid.
    if (parent === undefined || parent.started > at.started) return true;
    at = parent;
  }
  return false;
};

const isOrphan = ({ ppid, started }: ProcessRow, daemons: readonly PeerDaemon[]): boolean =>
  daemons.some(({ reaper, since }) => ppid === reaper && started >= since);
