import { readdirSync, rmdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import lockfile from 'proper-lockfile';
import { hasCode, orElse } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { statsAt } from './plain-path.ts';

const STALE_MS = 5000;

/**
 * Runs short work under the lock file of a folder, which other processes respect. The lock of a dead process is taken
 * over after 5 s. Throws `file_busy`, with the name of the lock, if it cannot be acquired.
 */
export const withFolderLock = async <T>(
  root: string,
  folder: string,
  work: () => Promise<T>,
): Promise<T> => {
  const path = join(folder, 'folder.lock');
  const name = relative(root, path);
  refuseInvalidLock(path, name);
  await clearFutureLock(path);
  const release = await lockfile.lock(folder, { ...GUARD, lockfilePath: path }).catch((error) => {
    throw hasCode(error, 'ELOCKED') ? busy(`${name} is held by another process`) : error;
  });
  try {
    return await work();
  } finally {
    await release();
  }
};

const GUARD = {
  realpath: false,
  stale: STALE_MS,
  retries: { retries: 20, minTimeout: 20, maxTimeout: 400 },
  onCompromised: () => undefined,
};

// The lock is an empty directory. Anything else can be neither taken over nor released.
const refuseInvalidLock = (path: string, name: string): void => {
  const stats = statsAt(path);
  if (stats === undefined) return;
  if (!stats.isDirectory()) throw busy(`${name} is not a directory. Remove it`);
  const [first] = readdirSync(path);
  if (first !== undefined) throw busy(`${name} must be empty, but contains ${first}. Remove it`);
};

const busy = (what: string): StoreError => new StoreError('file_busy', `${what}, then try again`);

// A lock with a time in the future would never go stale. A live holder renews it within half of STALE_MS.
const clearFutureLock = async (path: string): Promise<void> => {
  const mtime = statsAt(path)?.mtimeMs ?? 0;
  if (mtime < Date.now() + STALE_MS) return;
  await delay(STALE_MS);
  if (statsAt(path)?.mtimeMs !== mtime) return;
  orElse(() => rmdirSync(path), undefined, 'ENOENT');
};
