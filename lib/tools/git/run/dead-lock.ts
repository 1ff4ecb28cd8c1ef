import { rmSync, type Stats, statSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { isDone, orElse } from '../../../../store/base/attempt.ts';
import { isAtOrBelow } from '../../../../store/base/paths.ts';
import { isGitAtWork } from './at-work.ts';
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
