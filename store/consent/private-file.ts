import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeSyncedDirectory, syncDirectoryNow } from '../fs/synced.ts';

/** Writes a file that this user alone can read, whole or not at all: on disk when it returns. Throws what the disk says. */
export const writePrivate = (path: string, bytes: string | Buffer): void => {
  const dir = dirname(path);
  makeSyncedDirectory(dir, 0o700);
  const temporary = join(dir, `.${randomUUID()}`);
  const descriptor = openSync(temporary, 'wx', 0o600);
  try {
    writeFileSync(descriptor, bytes);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, path);
  syncDirectoryNow(dir);
};
