import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { coalesceReads } from '../../../store/base/async.ts';
import { orElse } from '../../../store/base/attempt.ts';
import { groupBy } from '../../../store/base/group-by.ts';
import { isAtOrBelow } from '../../../store/base/paths.ts';
import { readProcFile } from './proc-file.ts';
import { lockLimitOf } from './run-limit.ts';

/** The variable that every process of a run inherits, even in another process group or session. */
export const RUN_VARIABLE = 'DOSSIER_RUN';

/** A process as /proc reports it. */
export interface ProcessRow {
  pid: number;
  ppid: number;
  /** Start time in clock ticks since boot; pid and start time identify a process. */
  started: number;
  /** Its main thread has ended; other threads may run. */
  zombie: boolean;
  /** Its limit on file locks, by which runs are recognized; see `runLimit`. */
  limit: number;
  /** The run mark in its environment; undefined without one or without permission to read it. */
  mark?: string;
  /** The working directory of a process without HOME. */
  homeless_in?: string;
}

/** Every process of this machine; empty without /proc. Concurrent calls share one read. */
export const readProcesses = coalesceReads(async (): Promise<readonly ProcessRow[]> => {
  const rows: ProcessRow[] = [];
  let since = performance.now();
  for (const pid of numbersIn('/proc')) {
    const row = readProcess(pid);
    if (row !== undefined) rows.push(row);
    if (performance.now() - since < LONGEST_STEP_MS) continue;
    await breathe();
    since = performance.now();
  }
  const there = new Set(rows.map(({ pid }) => pid));
  for (const pid of images.keys()) if (!there.has(pid)) images.delete(pid);
  return rows;
});

const LONGEST_STEP_MS = 5;

/** One process; undefined if it has ended. */
export const readProcess = (pid: number): ProcessRow | undefined => {
  const stat = attempt(() => readProcFile(`/proc/${pid}/stat`));
  // The name in parentheses may itself contain parentheses and spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ppid] = fields;
  if (state === undefined || ppid === undefined) return;
  const zombie = state === 'Z';
  const { homeless, ...traits } = traitsOf(pid, fields, zombie);
  return {
    pid,
    ppid: Number(ppid),
    started: Number(fields[STARTED]),
    zombie,
    ...traits,
    ...(homeless !== undefined && { homeless_in: attempt(() => readlinkSync(`${homeless}/cwd`)) }),
  };
};

const STARTED = 19;
/** Addresses of its code, arguments and environment, which change when it executes another program. */
const [CODE, ARGUMENTS, ENVIRONMENT, ENVIRONMENT_END] = [23, 45, 47, 48] as const;

interface Traits extends Pick<ProcessRow, 'limit' | 'mark'> {
  /** The /proc directory of a process without HOME. */
  homeless?: string;
}

// Traits are read once for each program that a process executes: /proc shows the initial environment, and the limit is set
// before the program starts. Only the working directory changes.
const images = new Map<number, { image: string; traits: Traits }>();

const traitsOf = (pid: number, fields: readonly string[], zombie: boolean): Traits => {
  const places = [CODE, ARGUMENTS, ENVIRONMENT, ENVIRONMENT_END].map((at) => fields[at]);
  const image = [fields[STARTED], ...places].join(' ');
  const known = zombie ? undefined : images.get(pid);
  if (known?.image === image) return known.traits;
  const limit = lockLimitOf(pid) ?? Number.POSITIVE_INFINITY;
  const traits = { limit, ...environmentOf(pid, zombie) };
  // The kernel reports 0 or 1 for programs that this user may not inspect, and 0 for kernel threads.
  const isSeen = places.every((place) => Number(place) > 1) || places[0] === '0';
  if (isSeen && !zombie) images.set(pid, { image, traits });
  return traits;
};

// If the main thread has ended, the environment is read from another thread.
const environmentOf = (pid: number, zombie: boolean): Pick<Traits, 'mark' | 'homeless'> => {
  const place = zombie ? `/proc/${pid}/task/${threadsOf(pid).at(-1) ?? pid}` : `/proc/${pid}`;
  const environ = orElse(() => readProcFile(`${place}/environ`), undefined);
  // Without permission, or a kernel thread.
  if (environ === undefined) return {};
  const entries = environ.split('\0');
  const mark = entries.find((entry) => entry.startsWith(MARK))?.slice(MARK.length);
  const homeless = !entries.some((entry) => entry.startsWith('HOME='));
  return {
    ...(mark !== undefined && { mark }),
    ...(homeless && { homeless: place }),
  };
};

const MARK = `${RUN_VARIABLE}=`;

/** Whether a process holds a descriptor of `target`. With `every`, checks the table of each thread. */
export const holdsFile = (pid: number, target: string, every: boolean): boolean => {
  const places = every
    ? threadsOf(pid).map((tid) => `/proc/${pid}/task/${tid}/fd`)
    : [`/proc/${pid}/fd`];
  return places.some((place) =>
    namesIn(place).some((name) => attempt(() => readlinkSync(`${place}/${name}`)) === target),
  );
};

const threadsOf = (pid: number): number[] => numbersIn(`/proc/${pid}/task`);

const numbersIn = (place: string): number[] =>
  namesIn(place)
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

// Empty for a process that has ended or may not be read.
const namesIn = (place: string): string[] => orElse(() => readdirSync(place), []);

const attempt = (read: () => string): string => orElse(read, '');

/** Whether all threads of a process have ended and it waits to be reaped. */
export const hasExited = ({ pid, zombie }: Pick<ProcessRow, 'pid' | 'zombie'>): boolean =>
  zombie && threadsOf(pid).every((tid) => tid === pid || threadHasEnded(pid, tid));

const threadHasEnded = (pid: number, tid: number): boolean => {
  const stat = attempt(() => readProcFile(`/proc/${pid}/task/${tid}/stat`));
  return !/^ [^ZX]/.test(stat.slice(stat.lastIndexOf(')') + 1));
};

/**
 * Whether a process can act as the daemon's user or as root: one of its user ids matches, or it has a capability. True if
 * its status cannot be read.
 */
export const mayActAsUs = (pid: number): boolean => {
  const status = attempt(() => readProcFile(`/proc/${pid}/status`));
  const users = /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/).map(Number);
  if (users === undefined || !/^CapPrm:\s+0+$/m.test(status)) return true;
  return users.some((uid) => uid === 0 || uid === process.getuid?.());
};

/** These pids and all their descendants. */
export const descendants = (
  rows: readonly Pick<ProcessRow, 'pid' | 'ppid'>[],
  roots: readonly number[],
): Set<number> => {
  const children = groupBy(rows, ({ ppid }) => ppid);
  const found = new Set(roots);
  for (const parent of found) for (const { pid } of children.get(parent) ?? []) found.add(pid);
  return found;
};

/** The current time in clock ticks since boot; undefined without /proc. */
export const ticksNow = (): number | undefined => {
  const [uptime] = attempt(() => readProcFile('/proc/uptime')).split(' ');
  return uptime === undefined || uptime === '' ? undefined : Math.floor(Number(uptime) * 100);
};

/**
 * The processes of any run, also of a previous daemon, whose working directory is `directory` or below it: pid and name of
 * each. Empty without /proc.
 */
export const processesIn = async (directory: string): Promise<string[]> => {
  const ofRuns = (await readProcesses()).filter(({ mark }) => mark !== undefined);
  const isInside = ({ pid }: ProcessRow): boolean =>
    isAtOrBelow(
      attempt(() => readlinkSync(`/proc/${pid}/cwd`)),
      directory,
    );
  return ofRuns.filter(isInside).map(({ pid }) => nameOf(pid));
};

/** Whether a working directory, as /proc names it, is this one or below it, or is this one and was deleted. */
export const standsIn = (place: string | undefined, dir: string): boolean =>
  place !== undefined && (isAtOrBelow(place, dir) || place === `${dir} (deleted)`);

/** The pid and the name of a process. */
export const nameOf = (pid: number): string =>
  orElse(() => `${pid} (${readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd()})`, String(pid));
