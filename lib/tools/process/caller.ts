import { type Connection, peerOf, type SocketPeer } from './client-socket.ts';
import { type Keeper, keeperOf, otherKeepers } from './peer-daemons.ts';
import {
  descendants,
  holdsFile,
  type ProcessRow,
  readProcess,
  readProcesses,
} from './processes.ts';
import { OWN_LIMIT } from './run-limit.ts';
import type { Runs } from './runs.ts';

/**
 * Who makes a call. `operator`: nothing speaks against it. `other_user`: somebody else's socket. `run`: a process of a
 * run has it. `untold`: while a run has the machine's loopback, nobody was found who has it, or only who may be of a run.
 * `gone`: nobody has it any more. `unseen`: as `untold`, where there is no /proc to ask. `elsewhere`: as `untold`, and no
 * run is this daemon's; another one of this user has it.
 */
export type Caller = 'operator' | 'other_user' | 'run' | 'untold' | 'elsewhere' | 'gone' | 'unseen';

export interface Callers {
  /** Looks once at each connection, and again at one that was refused. */
  callerOf(connection: Connection): Promise<Caller>;
}

/** By what runs are known. */
export interface Suspicion {
  /** The daemons whose runs have the machine's loopback, this one too: what descends from them is of a run. */
  keepers: readonly Keeper[];
  /** Directories that are a run's alone. */
  dirs: readonly string[];
  /** This daemon. What it descends from is no run of others to it, though another daemon started it. */
  self: number;
  /** The mark and the limit that it was started with: who has them is as much the operator as the daemon is. */
  own_mark?: string | undefined;
  own_limit: number;
}

const byPath = new WeakSet<Connection>();

/**
 * Of a connection by a socket with a path that this user and root alone can open, and no sandbox shows. Nobody can tell
 * which process has its other end.
 */
export const cameByPath = (connection: Connection): void => void byPath.add(connection);

/** Tells who calls. The user is looked up once for each connection, and /proc is read only while there is need. */
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
      // No run that starts later has made this connection.
      if (caller === 'operator') cleared.add(connection);
      return caller === 'untold' && keeperOf(runs) === undefined ? 'elsewhere' : caller;
    },
  };
};

const attribute = async (client: SocketPeer, runs: Runs, own_mark?: string): Promise<Caller> => {
  if (client === 'gone') return 'gone';
  if (client === 'unknown') return keeperOf(runs) === undefined ? 'operator' : 'unseen';
  if (client.uid !== OWN_UID) return client.uid === ROOT ? 'operator' : 'other_user';
  return judge(client.inode, await suspicionOf(runs, own_mark));
};

// Without a sandbox an agent can open it, too.
const attributeByPath = async (runs: Runs, own_mark?: string): Promise<Caller> => {
  const suspicion = await suspicionOf(runs, own_mark);
  if (suspicion.keepers.length === 0) return 'operator';
  const suspected = withoutForebears(await readProcesses(), suspicion);
  return suspected.keepers.length === 0 ? 'operator' : 'untold';
};

// Root can do all that the daemon can.
const ROOT = 0;
const OWN_UID = process.getuid?.();

const suspicionOf = async (runs: Runs, own_mark?: string): Promise<Suspicion> => {
  const others = await otherKeepers();
  const own = keeperOf(runs) && keeperOf(runs, await runs.reaper());
  const dirs = [...runs.live].flatMap(({ loopback, dir }) => (loopback && dir ? dir : []));
  const keepers = own === undefined ? others : [own, ...others];
  return { keepers, dirs, self: process.pid, own_mark, own_limit: OWN_LIMIT };
};

const judge = async (inode: string, suspicion: Suspicion): Promise<Caller> => {
  if (suspicion.keepers.length === 0) return 'operator';
  const target = `socket:[${inode}]`;
  const rows = await readProcesses();
  const suspected = withoutForebears(rows, suspicion);
  if (suspected.keepers.length === 0) return 'operator';
  const inside = insiders(rows, suspected);
  for (const pid of inside) if (holdsFile(pid, target, true)) return 'run';
  const others = rows.filter(({ pid }) => !inside.has(pid)).toReversed();
  const holder = others.find((row) => holdsFile(row.pid, target, row.zombie));
  if (holder === undefined || isUnknownOrigin(holder, rows, suspected)) return 'untold';
  // The number may be another process's by now.
  const stays = readProcess(holder.pid)?.started === holder.started;
  return stays && holdsFile(holder.pid, target, holder.zombie) ? 'operator' : 'untold';
};

/** Without the daemons that this one was started by a run of: to it, such a run is the operator. */
export const withoutForebears = (rows: readonly ProcessRow[], suspicion: Suspicion): Suspicion => {
  const keepers = suspicion.keepers.filter(
    ({ pid }) => pid === suspicion.self || !descendants(rows, [pid]).has(suspicion.self),
  );
  return { ...suspicion, keepers };
};

/** The processes that are known to be of a run: by its limit or mark, by descent, by where they stand. */
export const insiders = (
  rows: readonly ProcessRow[],
  { keepers, dirs, self, own_mark, own_limit }: Suspicion,
): Set<number> => {
  const daemons = new Set(keepers.map(({ pid }) => pid));
  const roots = rows.filter(
    ({ ppid, mark, limit, homeless_in }) =>
      daemons.has(ppid) ||
      limit < own_limit ||
      (mark !== undefined && mark !== own_mark) ||
      standsIn(homeless_in, dirs),
  );
  const found = descendants(
    rows,
    roots.map(({ pid }) => pid),
  );
  found.delete(self);
  return found;
};

const standsIn = (place: string | undefined, dirs: readonly string[]): boolean =>
  place !== undefined &&
  dirs.some((dir) => `${place}/`.startsWith(`${dir}/`) || place === `${dir} (deleted)`);

/**
 * Whether nobody can say where a process comes from: it, or one that it descends from, is a child of who gets the orphans of
 * runs, and was started after the first of them. So is one whose forebears are not all to be seen.
 */
export const isUnknownOrigin = (
  row: ProcessRow,
  rows: readonly ProcessRow[],
  { keepers }: Pick<Suspicion, 'keepers'>,
): boolean => {
  const byPid = new Map(rows.map((one) => [one.pid, one]));
  let at = row;
  while (at.ppid !== 0) {
    if (isLost(at, keepers)) return true;
    const parent = byPid.get(at.ppid);
    // A parent is older; what is not has only got the number of one that is gone.
    if (parent === undefined || parent.started > at.started) return true;
    at = parent;
  }
  return false;
};

const isLost = ({ ppid, started }: ProcessRow, keepers: readonly Keeper[]): boolean =>
  keepers.some(({ reaper, since }) => ppid === reaper && started >= since);
