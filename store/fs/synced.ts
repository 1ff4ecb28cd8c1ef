import { closeSync, fsync, openSync, open as openWith, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';

// What does not wait for the disk is done here: the way to another thread and back costs more.
const MOST_AT_ONCE = 65_536;
const [openSoon, sync] = [promisify(openWith), promisify(fsync)];

/** What a file is to hold; of what is too large for memory, who writes it into the open file. */
export type Content = Buffer | string | ((handle: FileHandle) => Promise<void>);

/** Makes a file and resolves when it is on disk. */
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

/** Resolves when the disk knows the names in a directory. */
export const syncDirectory = async (path: string): Promise<void> =>
  withDescriptor(openSync(path, 'r'), (descriptor) =>
    sync(descriptor).catch((error: NodeJS.ErrnoException) => {
      if (!NOT_SYNCED.includes(String(error.code))) throw error;
    }),
  );

// Some network file systems cannot sync a directory, and need not.
const NOT_SYNCED = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'];

const withDescriptor = async (
  descriptor: number,
  work: (descriptor: number) => Promise<void>,
): Promise<void> => {
  try {
    await work(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/** Works with what is open, and closes it. */
export const withHandle = async <T>(
  handle: FileHandle,
  work: (handle: FileHandle) => Promise<T>,
): Promise<T> => {
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
};
