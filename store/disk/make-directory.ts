import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { orElse } from '../../base/or-else.ts';
import { hasCode, syncDirectory } from './durable.ts';

/**
 * Makes a directory and those above it that are missing, and returns once the name of each is on disk. One by one: Node's
 * own way with `recursive` never returns where a file system, such as /proc, takes no directory.
 */
export const makeSyncedDirectory = (path: string, mode = 0o777): void => {
  if (isDirectory(path)) return;
  if (dirname(path) !== path) makeSyncedDirectory(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (isDirectory(path)) return;
    throw error;
  }
  orElse(() => syncNow(dirname(path)), undefined, ...NOT_SYNCED);
};

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

// Of a directory that this user may not list, or on a network file system that cannot sync one and need not.
const NOT_SYNCED = ['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP'];

const syncNow = (path: string): void => {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/**
 * Resolves when the disk knows what is in a directory, and the names of the directory and of `levels` above it: whoever
 * made them, and whether or not that was synced. `..` is the directory that it is really in.
 */
export const syncWay = async (dir: string, levels: number): Promise<void> => {
  const above = Array.from({ length: levels + 1 }, (_, up) => `${dir}${'/..'.repeat(up)}`);
  await Promise.all(above.map(syncUnlessGone));
};

// A directory that a program has removed meanwhile has nothing above it.
const syncUnlessGone = (path: string): Promise<void> =>
  syncDirectory(path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
