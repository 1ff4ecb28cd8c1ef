import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
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

/** By what a run's processes are known, besides the marker in their environment. */
export interface Traces {
  /** The run's own worktree: what stands in it with an environment that was cleared is of the run. */
  dir?: string;
  /** Who belonged to the run before anything was ended, from `familyOf`: parents are forgotten when they die. */
  family?: Family;
}

export interface Family {
  members: Member[];
  /** Process groups, for hosts without /proc. */
  groups: number[];
}

/** A process for as long as it lives: its number alone may be somebody else's later. */
interface Member {
  pid: number;
  started: string;
}

/**
 * Kills every process that carries the marker in its environment, what else its traces show, and their descendants,
 * until none is seen for 200 ms. Resolves with how many were killed. A pid alone never decides: it is looked at again
 * before each kill. Where there is no /proc, the groups of the family are killed instead.
 */
export const sweep = async (marker: string, traces: Traces = {}): Promise<number> => {
  if (!hasProc()) return killGroups(traces.family);
  const killed = new Set<number>();
  const untouchable = new Set<number>();
  const started = performance.now();
  let quiet = started;
  while (performance.now() - quiet < QUIET_MS && performance.now() - started < GIVE_UP_MS) {
    const found = (await processesOf(marker, traces)).filter((pid) => !untouchable.has(pid));
    for (const pid of found) (kill(pid) ? killed : untouchable).add(pid);
    if (found.length > 0) quiet = performance.now();
    await delay(ROUND_MS);
  }
  return killed.size;
};

const killGroups = ({ groups }: Family = { members: [], groups: [] }): number =>
  groups.filter((group) => kill(-group)).length;

/** Whether any process of the run is alive. Always false where there is no /proc to ask. */
export const alive = async (marker: string, traces: Traces = {}): Promise<boolean> =>
  (await processesOf(marker, traces)).length > 0;

/** The processes of a run, by what they carry or whose children they are. None where there is no /proc to ask. */
export const processesOf = async (marker: string, traces: Traces = {}): Promise<number[]> => {
  if (!hasProc()) return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const carriers = await these(pids, (pid) => isMarked(pid, marker));
  const strays = traces.dir === undefined ? [] : await straysIn(traces.dir, pids);
  const { members = [] } = traces.family ?? {};
  if (carriers.length + strays.length + members.length === 0) return [];
  const rows = (await Promise.all(pids.map(rowOf))).filter((row) => row !== undefined);
  const ours = descendants(rows, [process.pid]);
  const former = members.filter(({ pid, started }) =>
    rows.some((row) => row.pid === pid && row.started === started),
  );
  const lost = strays.filter((pid) => !ours.has(pid));
  const found = descendants(rows, [...carriers, ...lost, ...former.map(({ pid }) => pid)]);
  found.delete(process.pid);
  return [...found];
};

/** Who belongs to a run now, its first process given. Ask before the first kill: an orphan's parent is forgotten. */
export const familyOf = async (marker: string, root: number): Promise<Family> => {
  const groups = await groupsBelow(root);
  const rows = await Promise.all((await processesOf(marker)).map(rowOf));
  return { groups, members: rows.filter((row) => row !== undefined) };
};

/** The process groups of `root` and its descendants, for hosts without /proc; empty where /proc makes it needless. */
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

const these = async (
  pids: readonly number[],
  is: (pid: number) => Promise<boolean>,
): Promise<number[]> => {
  const answers = await Promise.all(pids.map(is));
  return pids.filter((_, at) => answers[at]);
};

// A zombie's environment reads empty, another user's not at all: neither is ours to kill.
const isMarked = async (pid: number, marker: string): Promise<boolean> => {
  const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return environ.split('\0').includes(`${RUN_VARIABLE}=${marker}`);
};

// A program may clear its environment and leave its parent (`env -i setsid`, forked twice). No shell of an operator's
// and no editor lives without HOME, so in a worktree nobody is mistaken for it.
const straysIn = async (place: string, pids: readonly number[]): Promise<number[]> => {
  const dir = await realpath(place).catch(() => place);
  return these(pids, async (pid) => {
    const at = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (!`${at}/`.startsWith(`${dir}/`) && at !== `${dir} (deleted)`) return false;
    const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => 'HOME=');
    return !environ.split('\0').some((entry) => entry.startsWith('HOME='));
  });
};

const rowOf = async (pid: number): Promise<(ProcessRow & Member) | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // The name in brackets may itself hold brackets and spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ppid, pgid] = fields;
  if (state === undefined || ppid === undefined || state === 'Z') return undefined;
  return { pid, ppid: Number(ppid), pgid: Number(pgid), started: fields[STARTED] ?? '' };
};

const STARTED = 19;

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
