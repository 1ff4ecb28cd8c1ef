import { rmSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { isAtOrBelow } from '../../../../base/at-or-below.ts';
import { isDone, orElse } from '../../../../base/or-else.ts';
import { isGitAtWork } from './at-work.ts';
import type { GitPlace } from './git.ts';

const OLD_MS = 2000;

/**
 * Removes a lock of a ref of the daemon's own that nobody holds any more: a power cut leaves it, and git never removes
 * one. True once it is gone. Locks of other refs, and one whose git may be alive, stay.
 */
export const removeDeadLock = (place: GitPlace, lock: string | undefined): boolean => {
  if (typeof place === 'string' || lock === undefined) return false;
  const isOwn = isAtOrBelow(lock, join(place.common_dir, 'refs', 'dossier'));
  return isOwn && removeIfDead(place.common_dir, lock);
};

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
