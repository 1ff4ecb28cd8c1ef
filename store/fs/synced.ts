import {
  fsync,
  fsyncSync,
  mkdirSync,
  openSync,
  open as openWith,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { orElse } from '../base/attempt.ts';
import { whileOpen, withDescriptor, withHandle } from '../base/open-file.ts';

// Smaller writes run synchronously: they only fill the cache, and a thread switch costs more.
const MOST_AT_ONCE = 65_536;
const [openSoon, sync] = [promisify(openWith), promisify(fsync)];

/** The content of a new file; a function writes content too large for memory. */
export type Content = Buffer | string | ((handle: FileHandle) => Promise<void>);

/** Creates a file and resolves when its content is on disk. */
export const writeSynced = async (path: string, bytes: Content, mode = 0o644): Promise<void> => {
  if (typeof bytes === 'function' || bytes.length > MOST_AT_ONCE)
    return withHandle(await open(path, 'wx', mode), async (handle) => {
      await (typeof bytes === 'function' ? bytes(handle) : handle.writeFile(bytes));
      await handle.sync();
    });
  await withDescriptor(await openSoon(path, 'wx', mode), async (descriptor) => {
    writeFileSync(descriptor, bytes);
    await sync(descriptor);
  });
};

/** Resolves when the names in a directory are on disk. */
export const syncDirectory = async (path: string): Promise<void> =>
  withDescriptor(openSync(path, 'r'), (descriptor) =>
    sync(descriptor).catch((error: NodeJS.ErrnoException) => {
      if (!NOT_SYNCED.includes(String(error.code))) throw error;
    }),
  );

/** Resolves when the content of a file is on disk. */
export const syncFile = async (path: string): Promise<void> =>
  withDescriptor(openSync(path, 'r'), sync);

/** Codes of network file systems that cannot sync a directory, and do not need it. */
export const NOT_SYNCED = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'];

/**
 * Runs `then` after a write that succeeded, or that failed only in its final sync, when the new name is already visible.
 * Throws the error of the write.
 */
export const evenIfSyncFailed = async <T>(
  write: Promise<unknown>,
  then: () => T | Promise<T>,
): Promise<T> => {
  const failure = await write.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure !== undefined && !isLate(failure)) throw failure;
  const done = await then();
  if (failure !== undefined) throw failure;
  return done;
};

const isLate = (error: unknown): boolean => error instanceof Error && late.has(error);

/** Errors of a final sync. */
const late = new WeakSet<Error>();

/** Marks the final sync of a write: if it fails, the name is visible but may not survive a power cut. */
export const finalSync = (sync: Promise<void>): Promise<void> =>
  sync.catch((error: unknown) => {
    if (error instanceof Error) late.add(error);
    throw error;
  });

/**
 * Creates a directory and its missing parents, and returns once each name is on disk. Goes level by level, because Node's
 * `recursive` never returns on a file system that takes no directory, such as /proc. `below` is never created (it may be
 * a workspace that is being moved): throws ENOENT if it is missing.
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
  orElse(() => syncDirectoryNow(dirname(path)), undefined, 'EACCES', 'EPERM', ...NOT_SYNCED);
};

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Creates a file that only this user can read; blocks until its content is on disk. */
export const writePrivateNow = (path: string, bytes: string | Buffer): void =>
  whileOpen(openSync(path, 'wx', 0o600), (descriptor) => {
    writeFileSync(descriptor, bytes);
    fsyncSync(descriptor);
  });

/** Blocks until the names in a directory are on disk. Throws the error of the disk. */
export const syncDirectoryNow = (path: string): void => whileOpen(openSync(path, 'r'), fsyncSync);
