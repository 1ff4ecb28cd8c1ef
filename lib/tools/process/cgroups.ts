import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDone, orElse } from '../../../store/base/attempt.ts';
import { MOST_PROCESSES } from './run-limit.ts';

const PREFIX = 'dossier-';
const MOST_OF_MEMORY = 0.9;
const EMPTY_MS = 2000;
const ROUND_MS = 20;

/** Whether this machine gives a run a cgroup of its own, and whether limits apply to it. */
interface CgroupSupport {
  cgroup: boolean;
  limits: boolean;
}

/**
 * The argument vector that starts `argv` in a cgroup of its run; `argv` itself where there are no cgroups. Only root, or a
 * process of the daemon's user outside a sandbox, can leave the cgroup. With a pid namespace, which holds its processes as
 * well, a run gets a cgroup only where it brings limits: the kernel takes 20 ms to move a process into one.
 */
export const inCgroup = (
  marker: string,
  argv: readonly string[],
  { namespaced }: { namespaced: boolean },
): readonly string[] => {
  const path = namespaced && !hasLimits() ? undefined : made(marker);
  if (path === undefined) return argv;
  return ['/bin/sh', '-c', ENTER, 'sh', join(path, 'cgroup.procs'), ...argv];
};

// The program starts even if it cannot enter the cgroup: the sweep finds its processes by other traces.
const ENTER = '{ echo $$ > "$1"; } 2> /dev/null; shift; exec "$@"';

/** The pids in a run's cgroup; empty if the run has none. */
export const membersOf = (marker: string): number[] => {
  const base = baseOf();
  const procs = base === undefined ? '' : text(join(base, PREFIX + marker, 'cgroup.procs'));
  return procs.split('\n').filter(Boolean).map(Number);
};

/** Kills all processes of a run's cgroup at once, where the kernel supports `cgroup.kill`. */
export const killCgroup = (marker: string): void => {
  const base = baseOf();
  if (base !== undefined && membersOf(marker).length > 0)
    isDone(() => writeFileSync(join(base, PREFIX + marker, 'cgroup.kill'), '1'));
};

/** Removes a run's cgroup once it is empty. Gives up after 2 s; never rejects. */
export const removeCgroup = async (marker: string): Promise<void> => {
  const base = baseOf();
  if (base === undefined) return;
  const path = join(base, PREFIX + marker);
  const started = performance.now();
  // The cgroup stays busy for a moment after its last process has ended.
  while (existsSync(path) && !isDone(() => rmdirSync(path))) {
    if (performance.now() - started > EMPTY_MS) return;
    await delay(ROUND_MS);
  }
};

/** What this machine supports. */
export const detectCgroups = (): CgroupSupport => ({
  cgroup: baseOf() !== undefined,
  limits: hasLimits(),
});

const hasLimits = (): boolean => {
  known_limits ??= triedLimits();
  return known_limits;
};

let known_limits: boolean | undefined;

const triedLimits = (): boolean => {
  const path = made(`trial-${process.pid}`);
  if (path === undefined) return false;
  const limits = text(join(path, 'pids.max')) !== '' && text(join(path, 'memory.max')) !== '';
  isDone(() => rmdirSync(path));
  return limits;
};

const made = (marker: string): string | undefined => {
  const base = baseOf();
  if (base === undefined) return undefined;
  const path = join(base, PREFIX + marker);
  if (!isDone(() => mkdirSync(path, { recursive: true }))) return undefined;
  isDone(() => writeFileSync(join(path, 'pids.max'), `${MOST_PROCESSES}`, { flag: 'r+' }));
  const memory = Math.floor(totalmem() * MOST_OF_MEMORY);
  isDone(() => writeFileSync(join(path, 'memory.max'), `${memory}`, { flag: 'r+' }));
  return path;
};

let known: { base: string | undefined } | undefined;

const baseOf = (): string | undefined => {
  known ??= { base: found() };
  return known.base;
};

// The daemon's own cgroup (version 2). Removes empty cgroups that a previous daemon left.
const found = (): string | undefined => {
  const mount = /^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(text('/proc/self/mountinfo'))?.[1];
  const own = /^0::(.*)$/m.exec(text('/proc/self/cgroup'))?.[1];
  if (mount === undefined || own === undefined) return undefined;
  const base = join(mount, own);
  const trial = join(base, `${PREFIX}first-${process.pid}`);
  if (!isDone(() => mkdirSync(trial))) return undefined;
  const names = readdirSync(base).filter((name) => name.startsWith(PREFIX));
  for (const name of names) isDone(() => rmdirSync(join(base, name)));
  return base;
};

const text = (path: string): string => orElse(() => readFileSync(path, 'utf8'), '');
