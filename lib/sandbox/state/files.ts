import { constants, lstatSync, renameSync, type Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withHandle } from '../../../store/base/open-file.ts';
import { beside } from '../../../store/fs/durable.ts';
import { keepOwner, placeNew } from '../../../store/fs/place.ts';
import { statsAt } from '../../../store/fs/plain-path.ts';
import { syncDirectory, writeSynced } from '../../../store/fs/synced.ts';

/** The size limit of one file, copied or returned. */
export const LARGEST_BYTES = 64 * 1024 * 1024;

export interface Entry {
  name: string;
  /** False if its name is not UTF-8: `name` then names another file. */
  isText: boolean;
  /** The whole path as bytes. */
  raw: Buffer;
  isFile: boolean;
  isDirectory: boolean;
  isLink: boolean;
}

/** The entries of a directory; empty if it is missing or cannot be read. */
export const entriesOf = async (path: string): Promise<Entry[]> => {
  const how = { withFileTypes: true, encoding: 'buffer' } as const;
  const found = await readdir(path, how).catch(() => []);
  return found.map((entry) => {
    const name = entry.name.toString();
    return {
      name,
      isText: Buffer.from(name).equals(entry.name),
      raw: Buffer.concat([Buffer.from(`${path}/`), entry.name]),
      isFile: entry.isFile(),
      isDirectory: entry.isDirectory(),
      isLink: entry.isSymbolicLink(),
    };
  });
};

/** Reads a regular file without following a link. Rejects for anything else, and beyond `most` bytes. */
export const bytesOf = async (path: string, most: number): Promise<Buffer> => {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  return withHandle(await open(path, flags), async (handle) => {
    const found = await handle.stat();
    if (!found.isFile()) throw new Error('it is not a regular file');
    if (found.size > most) throw new Error('it is too large');
    return handle.readFile();
  });
};

/** A stamp that changes when the file is replaced or modified. */
const stampOf = ({ ino, size, mtimeMs }: Stats): string => [ino, size, mtimeMs].join(' ');

/** The stamp of a regular file, else undefined. */
export const stampAt = async (path: string): Promise<string | undefined> => {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() ? stampOf(found) : undefined;
};

/** Whether a path exists; true for a dangling link. */
export const isThere = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined)) !== undefined;

/** Creates a file with mode 0600. Rejects if the path exists, or if a directory between `root` and it is a link. */
export const createAt = async (root: string, path: string, bytes: Buffer): Promise<void> => {
  const target = join(root, path);
  await ownDirectories(root, dirname(path));
  await viaTemporary(target, bytes, (ready) => {
    if (!placeNew(ready, target)) throw new Error(CHANGED);
  });
};

/** Replaces a file if its stamp is unchanged. Keeps mode and owner. */
export const replaceAt = (target: string, stamp: string, bytes: Buffer): Promise<void> =>
  viaTemporary(target, bytes, (ready) => {
    const stats = statsAt(target);
    if (stats === undefined || stampOf(stats) !== stamp) throw new Error(CHANGED);
    keepOwner(ready, stats);
    renameSync(ready, target);
  });

/** The reason for a file that changed during the run. */
export const CHANGED = 'it was changed during the run';

const viaTemporary = async (
  target: string,
  bytes: Buffer,
  put: (ready: string) => void,
): Promise<void> => {
  const ready = beside(target);
  try {
    await writeSynced(ready, bytes, 0o600);
    put(ready);
  } finally {
    await rm(ready, { force: true });
  }
  await syncDirectory(dirname(target));
};

// Refuses links: an earlier run may have left one that leads elsewhere.
const ownDirectories = async (root: string, under: string): Promise<void> => {
  await mkdir(root, { recursive: true, mode: 0o700 });
  let at = root;
  for (const name of under.split('/').filter((part) => part !== '.')) {
    at = join(at, name);
    await mkdir(at, { mode: 0o700 }).catch(() => undefined);
    if (!lstatSync(at).isDirectory()) throw new Error('its path contains a link');
  }
};
