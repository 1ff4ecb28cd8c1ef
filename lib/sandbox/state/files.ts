import { constants, lstatSync, renameSync, type Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beside } from '../../../store/fs/durable.ts';
import { keepOwner, putNew } from '../../../store/fs/place.ts';
import { statsAt } from '../../../store/fs/plain-path.ts';
import { syncDirectory, withHandle, writeSynced } from '../../../store/fs/synced.ts';

/** Of one file, copied or returned. */
export const LARGEST_BYTES = 64 * 1024 * 1024;

export interface Entry {
  name: string;
  /** False where its name is bytes that are no UTF-8: as a text it names something else. */
  isText: boolean;
  /** The whole path. */
  raw: Buffer;
  isFile: boolean;
  isDirectory: boolean;
  isLink: boolean;
}

/** What is in a directory. What is not there is empty; what cannot be read, nobody of ours could have read either. */
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

/** The bytes of a regular file, not by way of a link; rejects for all else, and for more than `most`. */
export const bytesOf = async (path: string, most: number): Promise<Buffer> => {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  return withHandle(await open(path, flags), async (handle) => {
    const found = await handle.stat();
    if (!found.isFile()) throw new NotReturned('it is no regular file');
    if (found.size > most) throw new NotReturned('it is too large');
    return handle.readFile();
  });
};

/** Why something does not come back. */
export class NotReturned extends Error {}

/** Another stamp, another content, as far as the file system tells. */
export const stampOf = ({ ino, size, mtimeMs }: Stats): string => [ino, size, mtimeMs].join(' ');

/** The stamp of a regular file; undefined for all else. */
export const stampAt = async (path: string): Promise<string | undefined> => {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() ? stampOf(found) : undefined;
};

/** Whether anything has this name, a link that leads nowhere too. */
export const isThere = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined)) !== undefined;

/** Makes a file, for its owner alone, that is not there yet; rejects where something is. Each directory on the way from `root` is one. */
export const createAt = async (root: string, path: string, bytes: Buffer): Promise<void> => {
  const target = join(root, path);
  await ownDirectories(root, dirname(path));
  await viaTemporary(target, bytes, (ready) => {
    if (!putNew(ready, target)) throw new NotReturned(CHANGED);
  });
};

/** Replaces a file that has this stamp still; mode and owner stay. */
export const replaceAt = (target: string, stamp: string, bytes: Buffer): Promise<void> =>
  viaTemporary(target, bytes, (ready) => {
    const stats = statsAt(target);
    if (stats === undefined || stampOf(stats) !== stamp) throw new NotReturned(CHANGED);
    keepOwner(ready, stats);
    renameSync(ready, target);
  });

/** Somebody else was at it since the run began. */
export const CHANGED = 'it was changed meanwhile';

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

// No link on the way: an earlier run may have left one, to lead us elsewhere.
const ownDirectories = async (root: string, under: string): Promise<void> => {
  await mkdir(root, { recursive: true, mode: 0o700 });
  let at = root;
  for (const name of under.split('/').filter((part) => part !== '.')) {
    at = join(at, name);
    await mkdir(at, { mode: 0o700 }).catch(() => undefined);
    if (!lstatSync(at).isDirectory()) throw new NotReturned('a link is on the way');
  }
};
