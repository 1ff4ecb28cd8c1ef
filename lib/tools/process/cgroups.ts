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
import { orElse } from '../../../store/base/attempt.ts';

const PREFIX = 'dossier-';
const MOST_PROCESSES = 4096;
const MOST_OF_MEMORY = 0.9;
const EMPTY_MS = 2000;
const ROUND_MS = 20;

/** What a run can be given here: a cgroup to be ended by, and limits where the system hands on their controllers. */
interface CgroupGround {
  cgroup: boolean;
  limits: boolean;
}

/**
 * The argument vector that starts `argv` in a cgroup of its run's own; `argv` itself where none can be had. What a program
 * does to its parents and its environment changes nothing of it; only root, or who has the daemon's user, outside of the sandbox, can leave it.
 */
export const inCgroup = (marker: string, argv: readonly string[]): readonly string[] => {
  const path = made(marker);
  if (path === undefined) return argv;
  return ['/bin/sh', '-c', ENTER, 'sh', join(path, 'cgroup.procs'), ...argv];
};

// One that cannot be entered is no reason not to start: the sweep looks for the rest, too.
const ENTER = '{ echo $$ > "$1"; } 2> /dev/null; shift; exec "$@"';

/** The processes in a run's cgroup. None where it has none. */
export const membersOf = (marker: string): number[] => {
  const base = baseOf();
  const procs = base === undefined ? '' : text(join(base, PREFIX + marker, 'cgroup.procs'));
  return procs.split('\n').filter(Boolean).map(Number);
};

/** Kills what is in a run's cgroup, all at once, where there is one that can. */
export const killCgroup = (marker: string): void => {
  const base = baseOf();
  if (base !== undefined && membersOf(marker).length > 0)
    attempt(() => writeFileSync(join(base, PREFIX + marker, 'cgroup.kill'), '1'));
};

/** Takes a run's cgroup away, once nothing is in it. Never rejects. */
export const removeCgroup = async (marker: string): Promise<void> => {
  const base = baseOf();
  if (base === undefined) return;
  const path = join(base, PREFIX + marker);
  const started = performance.now();
  // Who has just ended may keep it for a moment, though nobody is listed any more.
  while (existsSync(path) && !attempt(() => rmdirSync(path))) {
    if (performance.now() - started > EMPTY_MS) return;
    await delay(ROUND_MS);
  }
};

/** What of cgroups can be had here, tried out. */
export const lookAtCgroups = (): CgroupGround => {
  const marker = `trial-${process.pid}`;
  const path = made(marker);
  if (path === undefined) return { cgroup: false, limits: false };
  const limits = text(join(path, 'pids.max')) !== '' && text(join(path, 'memory.max')) !== '';
  attempt(() => rmdirSync(path));
  return { cgroup: true, limits };
};

const made = (marker: string): string | undefined => {
  const base = baseOf();
  if (base === undefined) return undefined;
  const path = join(base, PREFIX + marker);
  if (!attempt(() => mkdirSync(path, { recursive: true }))) return undefined;
  attempt(() => writeFileSync(join(path, 'pids.max'), `${MOST_PROCESSES}`, { flag: 'r+' }));
  const memory = Math.floor(totalmem() * MOST_OF_MEMORY);
  attempt(() => writeFileSync(join(path, 'memory.max'), `${memory}`, { flag: 'r+' }));
  return path;
};

let known: { base: string | undefined } | undefined;

const baseOf = (): string | undefined => {
  known ??= { base: found() };
  return known.base;
};

// The daemon's own cgroup, where the second version of them is mounted; what a former life left empty goes.
const found = (): string | undefined => {
  const mount = /^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(text('/proc/self/mountinfo'))?.[1];
  const own = /^0::(.*)$/m.exec(text('/proc/self/cgroup'))?.[1];
  if (mount === undefined || own === undefined) return undefined;
  const base = join(mount, own);
  const trial = join(base, `${PREFIX}first-${process.pid}`);
  if (!attempt(() => mkdirSync(trial))) return undefined;
  const names = readdirSync(base).filter((name) => name.startsWith(PREFIX));
  for (const name of names) attempt(() => rmdirSync(join(base, name)));
  return base;
};

const text = (path: string): string => orElse(() => readFileSync(path, 'utf8'), '');

const attempt = (work: () => void): boolean =>
  orElse(() => {
    work();
    return true;
  }, false);
