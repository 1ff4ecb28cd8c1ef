import {
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { uptime } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAtOrBelow } from '../../../../store/base/at-or-below.ts';
import { isDone, orElse } from '../../../../store/base/or-else.ts';
import type { GitPlace } from './git.ts';

const OLD_MS = 2000;

/**
 * Removes a lock of a ref that nobody holds any more: a power cut leaves it, and git never removes one. Of the daemon's own
 * refs where no git is left that could hold it; of other refs, and of the file that git packs them into, only where this
 * machine was started since. True once it is gone. All other locks stay.
 */
export const removeDeadLock = (place: GitPlace, lock: string | undefined): boolean => {
  if (typeof place === 'string' || lock === undefined) return false;
  const { common_dir } = place;
  const isOwn = isAtOrBelow(lock, join(common_dir, 'refs', 'dossier'));
  return (isOwn || isOfFormerBoot(common_dir, lock)) && removeIfDead(common_dir, lock);
};

const isOfFormerBoot = (common_dir: string, lock: string): boolean => {
  const isOfRef =
    isAtOrBelow(lock, join(common_dir, 'refs')) || lock === join(common_dir, 'packed-refs.lock');
  const stats = isOfRef ? statsOf(lock) : undefined;
  return stats !== undefined && stats.mtimeMs < Date.now() - uptime() * 1000 - CLOCK_MS;
};

// A file's time is a tick behind the clock, and a clock is set right a moment after the start.
const CLOCK_MS = 10_000;

/** The same of any lock of which it is known that only the daemon's git makes it. */
export const removeIfDead = (common_dir: string, lock: string, old_ms = OLD_MS): boolean => {
  const before = statsOf(lock);
  if (before === undefined || !before.isFile() || Date.now() - before.mtimeMs < old_ms)
    return false;
  if (isGitAtWork(common_dir)) return false;
  const now = statsOf(lock);
  // Another one by now: its git began after the look at what runs.
  if (now?.ino !== before.ino || now.ctimeMs !== before.ctimeMs) return false;
  return isDone(() => rmSync(lock));
};

const statsOf = (path: string): Stats | undefined =>
  orElse(() => statSync(path, { throwIfNoEntry: false }), undefined);

/**
 * Whether some git works on a repository, whoever began it: what such a process holds must stay. True where that cannot
 * be known, as without /proc.
 */
const isGitAtWork = (common_dir: string): boolean => {
  const pids = orElse(() => readdirSync('/proc'), []).filter((name) => /^\d+$/.test(name));
  if (!pids.includes(String(process.pid))) return true;
  const real = orElse(() => realpathSync(common_dir), common_dir);
  return pids.some((pid) => isGit(pid) && isOn(pid, real));
};

/** Waits for gits that a former life of the daemon left, 5 s at most; false where one still works. */
export const untilNoGit = async (common_dir: string): Promise<boolean> => {
  for (let left = 50; left > 0; left -= 1) {
    if (!isGitAtWork(common_dir)) return true;
    await delay(100);
  }
  return false;
};

const isGit = (pid: string): boolean => {
  const name = orElse(() => readFileSync(`/proc/${pid}/comm`, 'latin1'), '');
  const status = orElse(() => readFileSync(`/proc/${pid}/stat`, 'latin1'), '');
  return /^git(?:-|\n)/.test(name) && !/\) [ZX] [^)]*$/.test(status);
};

const isOn = (pid: string, common_dir: string): boolean => {
  try {
    const cwd = readlinkSync(`/proc/${pid}/cwd`);
    const environ = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return command.includes(dirname(common_dir)) || isIn(common_dir, cwd, environ);
  } catch (error) {
    // Another user's: nobody here knows where it works. One that has ended holds nothing.
    return !['ENOENT', 'ESRCH'].includes(`${(error as NodeJS.ErrnoException).code}`);
  }
};

const isIn = (common_dir: string, cwd: string, environ: readonly string[]): boolean => {
  const said = environ.flatMap((line) => /^GIT_(?:COMMON_)?DIR=(.+)$/s.exec(line)?.[1] ?? []);
  const places = said.length > 0 ? said.map((dir) => resolve(cwd, dir)) : gitDirsAbove(cwd);
  return places.some((dir) =>
    isAtOrBelow(
      orElse(() => realpathSync(dir), dir),
      common_dir,
    ),
  );
};

// As git looks for a repository: upwards, a directory or a file that says where it is; a bare one is itself.
const gitDirsAbove = (cwd: string): string[] => {
  const found = [cwd];
  for (let dir = cwd; ; dir = dirname(dir)) {
    const at = join(dir, '.git');
    const stats = orElse(() => lstatSync(at, { throwIfNoEntry: false }), undefined);
    if (stats?.isFile() === true) found.push(pointerIn(at));
    else if (stats !== undefined) found.push(at);
    if (dir === dirname(dir)) return found;
  }
};

const pointerIn = (file: string): string => {
  const text = orElse(() => readFileSync(file, 'utf8'), '');
  const target = /^gitdir: (.*?)\n*$/s.exec(text)?.[1] ?? '.';
  return isAbsolute(target) ? target : resolve(dirname(file), target);
};
