import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isDone, orElse } from '../../../store/base/attempt.ts';
import { killCgroup, membersOf } from './cgroups.ts';
import {
  descendants,
  hasExited,
  type ProcessRow,
  readProcess,
  readProcesses,
  standsIn,
} from './processes.ts';
import { runLimit } from './run-limit.ts';

interface Parentage extends Pick<ProcessRow, 'pid' | 'ppid'> {
  pgid: number;
}

const QUIET_MS = 200;
const ROUND_MS = 20;
const GIVE_UP_MS = 10_000;

/** Traces by which a run's processes are recognized, besides the marker in their environment. */
export interface Traces {
  /** The run's worktree: a process in it without HOME belongs to the run. */
  dir?: string;
  /** The processes before the first kill, from `familyOf`: an orphan's parent is unknown. */
  family?: Family;
  /** It had a pid namespace of its own: the kernel kills its processes with its first one. */
  namespaced?: boolean;
}

export interface Family {
  members: Member[];
  /** Process groups, for hosts without /proc. */
  groups: number[];
}

/** A process, with its start time: pids are reused. */
type Member = Pick<ProcessRow, 'pid' | 'started'>;

/**
 * Kills every process with the marker in its environment or another trace of the run, and their descendants, until none is
 * found for 200 ms: one that forks may escape a look. None can in a pid namespace, where the first look that finds none is
 * the last. Returns how many were killed. Each pid is checked again before it is killed. Without /proc, kills the process
 * groups of the family instead.
 */
export const killRun = async (marker: string, traces: Traces = {}): Promise<number> => {
  if (!hasProc()) return killGroups(traces.family);
  const killed = new Set(membersOf(marker));
  killCgroup(marker);
  const untouchable = new Set<number>();
  await untilQuiet(traces.namespaced === true ? 0 : QUIET_MS, async () => {
    const found = (await processesOf(marker, traces)).filter((pid) => !untouchable.has(pid));
    for (const pid of found) (kill(pid) ? killed : untouchable).add(pid);
    return found.length === 0;
  });
  return killed.size;
};

const untilQuiet = async (quiet_ms: number, round: () => Promise<boolean>): Promise<void> => {
  const started = performance.now();
  for (let since = started; performance.now() - started < GIVE_UP_MS; await delay(ROUND_MS)) {
    const isQuiet = await round();
    if (!isQuiet) since = performance.now();
    else if (performance.now() - since >= quiet_ms) return;
  }
};

const killGroups = ({ groups }: Family = { members: [], groups: [] }): number =>
  groups.filter((group) => kill(-group)).length;

/** The pids of a run, by its traces and by ancestry. Empty without /proc. */
export const processesOf = async (marker: string, traces: Traces = {}): Promise<number[]> =>
  ofRun(await readProcesses(), marker, traces);

const ofRun = (rows: readonly ProcessRow[], marker: string, traces: Traces): number[] => {
  const { members = [] } = traces.family ?? {};
  const ours = descendants(rows, [process.pid]);
  const limit = runLimit(marker);
  const inside = new Set(membersOf(marker));
  const { dir } = traces;
  const real = dir === undefined ? undefined : orElse(() => realpathSync(dir), dir);
  // A program may clear its environment and leave its parent (`env -i setsid`, forked twice). The operator's shells and
  // editors always have HOME, so they are not mistaken for it.
  const isHere = (place: string | undefined): boolean =>
    real !== undefined && standsIn(place, real);
  const roots = rows.filter(
    (row) =>
      row.mark === marker ||
      row.limit === limit ||
      inside.has(row.pid) ||
      members.some(({ pid, started }) => row.pid === pid && row.started === started) ||
      (!ours.has(row.pid) && isHere(row.homeless_in)),
  );
  const found = descendants(rows, [...roots.map(({ pid }) => pid)]);
  found.delete(process.pid);
  return rows.filter(({ pid }) => found.has(pid)).flatMap((row) => (hasExited(row) ? [] : row.pid));
};

/** The processes of a run, given its first one. Call it before the first kill: an orphan's parent is unknown. */
export const familyOf = async (marker: string, root: number): Promise<Family> => {
  const groups = await groupsBelow(root);
  const rows = (await processesOf(marker)).map(readProcess);
  return { groups, members: rows.filter((row) => row !== undefined) };
};

/** The process groups of `root` and its descendants; empty where there is /proc. */
export const groupsBelow = async (root: number): Promise<number[]> =>
  hasProc() ? [] : descendantGroups(await processTable(), root);

export const descendantGroups = (rows: readonly Parentage[], root: number): number[] => {
  const below = descendants(rows, [root]);
  const own = rows.find((row) => row.pid === process.pid)?.pgid;
  const groups = rows.filter((row) => below.has(row.pid)).map((row) => row.pgid);
  return [...new Set(groups)].filter((group) => group > 1 && group !== own);
};

export const processTable = async (): Promise<Parentage[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,ppid=,pgid=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, ppid, pgid] = line.trim().split(/\s+/).map(Number);
    return pid && ppid !== undefined && pgid !== undefined ? [{ pid, ppid, pgid }] : [];
  });
};

const hasProc = (): boolean => existsSync('/proc/self/environ');

// False if the process has ended or belongs to another user.
const kill = (pid: number): boolean => isDone(() => process.kill(pid, 'SIGKILL'));
