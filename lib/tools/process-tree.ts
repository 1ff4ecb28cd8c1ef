import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/** The variable that every process of a run inherits, whatever group or session it moves to. */
export const RUN_VARIABLE = 'DOSSIER_RUN';

const QUIET_MS = 200;
const ROUND_MS = 20;
const GIVE_UP_MS = 10_000;

export interface ProcessRow {
  pid: number;
  ppid: number;
  pgid: number;
}

/**
 * Kills every process that carries the marker in its environment, and their descendants, until none is seen for
 * 200 ms. Resolves with how many were killed. A pid alone never decides: the marker is read before each kill.
 * Where there is no /proc, `groups` (from `groupsBelow`, taken before anything was killed) are killed instead.
 */
export const sweep = async (marker: string, groups: readonly number[] = []): Promise<number> => {
  if (!hasProc()) return groups.filter((group) => kill(-group)).length;
  const killed = new Set<number>();
  const untouchable = new Set<number>();
  const started = performance.now();
  let quiet = started;
  while (performance.now() - quiet < QUIET_MS && performance.now() - started < GIVE_UP_MS) {
    const found = (await carriers(marker)).filter((pid) => !untouchable.has(pid));
    for (const pid of found) (kill(pid) ? killed : untouchable).add(pid);
    if (found.length > 0) quiet = performance.now();
    await delay(ROUND_MS);
  }
  return killed.size;
};

/** Whether any process of the run is alive. Always false where there is no /proc to ask. */
export const alive = async (marker: string): Promise<boolean> =>
  (await processesOf(marker)).length > 0;

/** The processes of a run, by what they carry or whose children they are. None where there is no /proc to ask. */
export const processesOf = async (marker: string): Promise<number[]> =>
  hasProc() ? carriers(marker) : [];

/**
 * The process groups of `root` and its descendants, for hosts without /proc; empty where /proc makes it needless.
 * Ask before the first kill: an orphan's parent is forgotten.
 */
export const groupsBelow = async (root: number): Promise<number[]> =>
  hasProc() ? [] : descendantGroups(await processTable(), root);

export const descendantGroups = (rows: readonly ProcessRow[], root: number): number[] => {
  const below = descendants(rows, [root]);
  const own = rows.find((row) => row.pid === process.pid)?.pgid;
  const groups = rows.filter((row) => below.has(row.pid)).map((row) => row.pgid);
  return [...new Set(groups)].filter((group) => group > 1 && group !== own);
};

export const processTable = async (): Promise<ProcessRow[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,ppid=,pgid=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, ppid, pgid] = line.trim().split(/\s+/).map(Number);
    return pid && ppid !== undefined && pgid !== undefined ? [{ pid, ppid, pgid }] : [];
  });
};

const hasProc = (): boolean => existsSync('/proc/self/environ');

// A program may clear its environment (`env -i`), so children of marked processes count as well.
const carriers = async (marker: string): Promise<number[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const marked = await Promise.all(pids.map((pid) => isMarked(pid, marker)));
  const roots = pids.filter((_, at) => marked[at]);
  if (roots.length === 0) return [];
  const rows = (await Promise.all(pids.map(parentOf))).filter((row) => row !== undefined);
  const found = descendants(rows, roots);
  found.delete(process.pid);
  return [...found];
};

// A zombie's environment reads empty, another user's not at all: neither is ours to kill.
const isMarked = async (pid: number, marker: string): Promise<boolean> => {
  const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return environ.split('\0').includes(`${RUN_VARIABLE}=${marker}`);
};

const parentOf = async (pid: number): Promise<ProcessRow | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // The name in brackets may itself hold brackets and spaces.
  const [state, ppid, pgid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === undefined || ppid === undefined || state === 'Z') return undefined;
  return { pid, ppid: Number(ppid), pgid: Number(pgid) };
};

const descendants = (rows: readonly ProcessRow[], roots: readonly number[]): Set<number> => {
  const found = new Set(roots);
  let before = 0;
  while (before !== found.size) {
    before = found.size;
    for (const row of rows) if (found.has(row.ppid)) found.add(row.pid);
  }
  return found;
};

const kill = (pid: number): boolean => {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    // Gone already, or not ours.
    return false;
  }
};
