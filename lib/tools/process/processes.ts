import { readdirSync, readlinkSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setImmediate as breathe } from 'node:timers/promises';
import { isAtOrBelow } from '../../../store/base/at-or-below.ts';
import { orElse } from '../../../store/base/or-else.ts';
import { sharedRead } from '../../../store/base/shared-read.ts';
import { readProcFile } from './proc-file.ts';
import { lockLimitOf } from './run-limit.ts';

/** The variable that every process of a run inherits, whatever group or session it moves to. */
export const RUN_VARIABLE = 'DOSSIER_RUN';

/** What /proc says of a process. */
export interface ProcessRow {
  pid: number;
  ppid: number;
  pgid: number;
  /** The process that began its session; it may be gone. */
  sid: number;
  /** Clock ticks since the machine started: with its number, the process for as long as it lives. */
  started: number;
  /** Its first thread has ended; others may live. */
  zombie: boolean;
  /** Its limit on file locks, by which runs are known; see `runLimit`. */
  limit: number;
  /** The mark of a run in its environment; undefined where it has none, or may not be read. */
  mark?: string;
  /** Where it stands, of one that was left no HOME. */
  homeless_in?: string;
}

/** Every process of this machine, read one after the other; empty where there is no /proc. Who asks at once shares them. */
export const readProcesses = sharedRead(async (): Promise<readonly ProcessRow[]> => {
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

/** One process; undefined when it is gone. */
export const readProcess = (pid: number): ProcessRow | undefined => {
  const stat = attempt(() => readProcFile(`/proc/${pid}/stat`));
  // The name in brackets may itself hold brackets and spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ...numbers] = fields;
  const [ppid, pgid, sid] = numbers.map(Number);
  if (state === undefined || ppid === undefined || pgid === undefined || sid === undefined) return;
  const zombie = state === 'Z';
  const { homeless, ...traits } = traitsOf(pid, fields, zombie);
  return {
    ...{ pid, ppid, pgid, sid, started: Number(fields[STARTED]), zombie },
    ...traits,
    ...(homeless !== undefined && { homeless_in: attempt(() => readlinkSync(`${homeless}/cwd`)) }),
  };
};

const STARTED = 19;
/** Where its program, its arguments and its environment lie: other places as soon as it runs another program. */
const [CODE, ARGUMENTS, ENVIRONMENT, ENVIRONMENT_END] = [23, 45, 47, 48] as const;

interface Traits extends Pick<ProcessRow, 'limit' | 'mark'> {
  /** Where it is read where it stands, of one that was left no HOME. */
  homeless?: string;
}

// What a process is known by is read once for each program that it runs: its environment is the one that was begun with, and
// a limit is lowered before the program is that it is for. Where it stands may change.
const images = new Map<number, { image: string; traits: Traits }>();

const traitsOf = (pid: number, fields: readonly string[], zombie: boolean): Traits => {
  const places = [CODE, ARGUMENTS, ENVIRONMENT, ENVIRONMENT_END].map((at) => fields[at]);
  const image = [fields[STARTED], ...places].join(' ');
  const known = zombie ? undefined : images.get(pid);
  if (known?.image === image) return known.traits;
  const limit = lockLimitOf(pid) ?? Number.POSITIVE_INFINITY;
  const traits = { limit, ...environmentOf(pid, zombie) };
  // 0 and 1 are what is told of a program that is not ours to see; a thread of the kernel has none.
  const isSeen = places.every((place) => Number(place) > 1) || places[0] === '0';
  if (isSeen && !zombie) images.set(pid, { image, traits });
  return traits;
};

// The environment of a process whose first thread has ended is read by another of its threads.
const environmentOf = (pid: number, zombie: boolean): Pick<Traits, 'mark' | 'homeless'> => {
  const place = zombie ? `/proc/${pid}/task/${threadsOf(pid).at(-1) ?? pid}` : `/proc/${pid}`;
  const environ = orElse(() => readProcFile(`${place}/environ`), undefined);
  // Not ours to read, or a thread of the kernel, which stands nowhere.
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

/** Whether the process has a descriptor that leads there. Threads may have tables of their own: `every` looks at all. */
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

// What cannot be read is gone, or not ours to read.
const namesIn = (place: string): string[] => orElse(() => readdirSync(place), []);

const attempt = (read: () => string): string => orElse(read, '');

/** Whether all of its threads have ended, and only its parent has not heard of it. */
export const hasExited = ({ pid, zombie }: Pick<ProcessRow, 'pid' | 'zombie'>): boolean =>
  zombie && threadsOf(pid).every((tid) => tid === pid || threadHasEnded(pid, tid));

const threadHasEnded = (pid: number, tid: number): boolean => {
  const stat = attempt(() => readProcFile(`/proc/${pid}/task/${tid}/stat`));
  return !/^ [^ZX]/.test(stat.slice(stat.lastIndexOf(')') + 1));
};

/**
 * Whether a process may write and call as the daemon's user, or as root: one of its users is that, or it has a capability.
 * True where nobody can say.
 */
export const mayActAsUs = (pid: number): boolean => {
  const status = attempt(() => readProcFile(`/proc/${pid}/status`));
  const users = /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/).map(Number);
  if (users === undefined || !/^CapPrm:\s+0+$/m.test(status)) return true;
  return users.some((uid) => uid === 0 || uid === process.getuid?.());
};

/** These processes and all that descend from them. */
export const descendants = (
  rows: readonly Pick<ProcessRow, 'pid' | 'ppid'>[],
  roots: readonly number[],
): Set<number> => {
  const children = new Map<number, number[]>();
  for (const { pid, ppid } of rows) children.set(ppid, [...(children.get(ppid) ?? []), pid]);
  const found = new Set(roots);
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
  return found;
};

/** This moment in clock ticks since the machine started, as processes are stamped; undefined where there is no /proc. */
export const ticksNow = (): number | undefined => {
  const [uptime] = attempt(() => readProcFile('/proc/uptime')).split(' ');
  return uptime === undefined || uptime === '' ? undefined : Math.floor(Number(uptime) * 100);
};

interface ProcessIn {
  pid: number;
  /** The name of its program. */
  name: string;
}

/**
 * The processes of any run, of a former daemon too, that have `directory`, or one below it, as their working directory.
 * None where there is no /proc to ask.
 */
export const processesIn = async (directory: string): Promise<ProcessIn[]> => {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => processIn(pid, directory)));
  return found.filter((one) => one !== undefined);
};

const processIn = async (pid: string, directory: string): Promise<ProcessIn | undefined> => {
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
  if (!isAtOrBelow(cwd, directory)) return undefined;
  const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  if (!environ.split('\0').some((each) => each.startsWith(`${RUN_VARIABLE}=`))) return undefined;
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return { pid: Number(pid), name: name.trimEnd() };
};
