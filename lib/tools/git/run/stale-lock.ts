import {
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import { uptime } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode, isDone, orElse } from '../../../../store/base/attempt.ts';
import { isAtOrBelow } from '../../../../store/base/paths.ts';
import type { GitPlace } from './git.ts';
import { pointedTo } from './plain-file.ts';

const OLD_MS = 2000;

/**
 * Removes a stale lock of a ref, as a power cut leaves it: git never removes one. A lock of the daemon's own refs is removed
 * if no git process runs; a lock of other refs or of packed-refs only if it is also older than the last boot. Other locks
 * stay. Returns true if the lock was removed.
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

// File times lag the clock by a tick, and the clock may be corrected shortly after boot.
const CLOCK_MS = 10_000;

/** The same for any lock that only the daemon's git creates. */
export const removeIfDead = (common_dir: string, lock: string, old_ms = OLD_MS): boolean => {
  const before = statsOf(lock);
  if (before === undefined || !before.isFile() || ageOf(before) < old_ms) return false;
  if (isGitAtWork(common_dir)) return false;
  const now = statsOf(lock);
  // A new lock: its git process started after the check.
  if (now?.ino !== before.ino || now.ctimeMs !== before.ctimeMs) return false;
  return isDone(() => unlinkSync(lock));
};

// A lock of the future is from before the clock was set back.
const ageOf = ({ mtimeMs }: Stats): number => Math.abs(Date.now() - mtimeMs);

const statsOf = (path: string): Stats | undefined =>
  orElse(() => statSync(path, { throwIfNoEntry: false }), undefined);

/**
 * Whether a git process works on a repository, so that its locks must stay. True if that cannot be determined, for example
 * without /proc.
 */
const isGitAtWork = (common_dir: string): boolean => {
  const pids = orElse(() => readdirSync('/proc'), []).filter((name) => /^\d+$/.test(name));
  if (!pids.includes(String(process.pid))) return true;
  const real = orElse(() => realpathSync(common_dir), common_dir);
  return pids.some((pid) => isGit(pid) && isOn(pid, real));
};

/** Waits up to 5 s for git processes that a previous daemon started. False if one still runs. */
export const waitForGit = async (common_dir: string): Promise<boolean> => {
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
    // Assume that another user's git works on this repository; one that has ended does not.
    return !hasCode(error, 'ENOENT', 'ESRCH');
  }
};

const isIn = (common_dir: string, cwd: string, environ: readonly string[]): boolean => {
  const named = environ.flatMap((line) => /^GIT_(?:COMMON_)?DIR=(.+)$/s.exec(line)?.[1] ?? []);
  const places = named.length > 0 ? named.map((dir) => resolve(cwd, dir)) : gitDirsAbove(cwd);
  return places.some((dir) =>
    isAtOrBelow(
      orElse(() => realpathSync(dir), dir),
      common_dir,
    ),
  );
};

// Follows git's own search for a repository: upwards, a `.git` directory or file; a bare repository is its own git directory.
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
  const target = pointedTo(text) ?? '.';
  return isAbsolute(target) ? target : resolve(dirname(file), target);
};
