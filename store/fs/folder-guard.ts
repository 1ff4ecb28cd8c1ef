import { readdirSync, rmdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import lockfile from 'proper-lockfile';
import { orElse } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { hasCode } from './durable.ts';
import { statsAt } from './plain-path.ts';

const STALE_MS = 5000;

/**
 * Runs work while no other process that understands the same lock is in the folder: for moments only. What a dead
 * process left is taken over after 5 s; `file_busy`, which names the lock, when it cannot be had.
 */
export const inFolderTurn = async <T>(
  root: string,
  folder: string,
  work: () => Promise<T>,
): Promise<T> => {
  const path = join(folder, 'folder.lock');
  const name = relative(root, path);
  refuseStrange(path, name);
  await outwaitFuture(path);
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

// The lock is an empty directory. One that is not can be neither taken over nor released.
const refuseStrange = (path: string, name: string): void => {
  const stats = statsAt(path);
  if (stats === undefined) return;
  if (!stats.isDirectory()) throw busy(`${name} is no directory, as a lock is. Remove it`);
  const [first] = readdirSync(path);
  if (first !== undefined) throw busy(`${name} holds ${first}, and has to be empty. Remove it`);
};

const busy = (what: string): StoreError => new StoreError('file_busy', `${what}; then try again`);

// A lock from the future would hold until the clock has caught up. Who is alive renews it within half that time.
const outwaitFuture = async (path: string): Promise<void> => {
  const mtime = statsAt(path)?.mtimeMs ?? 0;
  if (mtime < Date.now() + STALE_MS) return;
  await delay(STALE_MS);
  if (statsAt(path)?.mtimeMs !== mtime) return;
  orElse(() => rmdirSync(path), undefined, 'ENOENT');
};
