import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { orElse } from '../base/attempt.ts';

/**
 * Makes a directory and those above it that are missing, and returns once the name of each is on disk. One by one: Node's
 * own way with `recursive` never returns where a file system, such as /proc, takes no directory. `below` is never made:
 * where a workspace was, that is moved this very moment, it would be made anew. Throws ENOENT when it is not there.
 */
export const makeSyncedDirectory = (path: string, mode = 0o777, below?: string): void => {
  if (path === below || isDirectory(path)) return;
  if (dirname(path) !== path) makeSyncedDirectory(dirname(path), mode, below);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (isDirectory(path)) return;
    throw error;
  }
  orElse(() => syncDirectoryNow(dirname(path)), undefined, ...NOT_SYNCED);
};

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

// Of a directory that this user may not list, or on a network file system that cannot sync one and need not.
const NOT_SYNCED = ['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP'];

/** What has a name in this directory keeps it over a power cut, once this returns. Throws what the disk says. */
export const syncDirectoryNow = (path: string): void => {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};
