import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  lchownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { StoreError } from './errors.ts';
import type { Layout } from './layout.ts';
import { assertNoLinks, statsAt } from './plain-path.ts';

/**
 * Writes that a power cut cannot tear: temporary file in `.dossier/tmp`, fsync, rename, fsync of the directory. Each
 * resolves when the file is on disk. A reader sees the old file or the new one, whole.
 */
export const replaceFile = async (
  layout: Layout,
  target: string,
  expected: Buffer,
  bytes: Buffer | string,
): Promise<boolean> => {
  const temporary = await writeTemporary(layout, bytes);
  try {
    // From here to the rename nothing waits: an editor has microseconds, and what it saved then is in `.dossier/undo`.
    assertNoLinks(layout.root, dirname(target));
    const before = statsAt(target);
    if (!stillHolds(target, before, expected)) return false;
    keepForUndo(layout, target);
    keepOwner(temporary, before);
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
  await syncDirectory(dirname(target));
  return true;
};

/** Makes a file that must not be there yet; false when it is. */
export const createFile = async (
  layout: Layout,
  target: string,
  bytes: Buffer | string,
  mode = 0o644,
): Promise<boolean> => {
  assertNoLinks(layout.root, dirname(target));
  makeDirectory(dirname(target));
  const temporary = await writeTemporary(layout, bytes, mode);
  try {
    linkSync(temporary, target);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  await syncDirectory(dirname(target));
  return true;
};

/** Removes a file and keeps it in `.dossier/undo`; false when there is none. */
export const removeFile = async (layout: Layout, target: string): Promise<boolean> => {
  assertNoLinks(layout.root, dirname(target));
  try {
    keepForUndo(layout, target);
    rmSync(target);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
  await syncDirectory(dirname(target));
  return true;
};

/** Makes a directory with its files by one rename: it is there with all of them, or not at all. */
export const createDirectory = async (
  layout: Layout,
  target: string,
  files: Record<string, string>,
): Promise<void> => {
  assertNoLinks(layout.root, dirname(target));
  const temporary = join(layout.tmp, randomUUID());
  // Making a directory may wait for the disk, as a sync does: not on the event loop.
  await mkdir(temporary);
  try {
    await Promise.all(
      Object.entries(files).map(([name, text]) => writeSynced(join(temporary, name), text)),
    );
    await syncDirectory(temporary);
    moveTo(temporary, target);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error;
  }
  await syncDirectory(dirname(target));
};

// The directory above is nearly always there.
const moveTo = (from: string, target: string): void => {
  try {
    renameSync(from, target);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    makeDirectory(dirname(target));
    renameSync(from, target);
  }
};

/** Takes a directory out of the tree by one rename into the trash; what is removed later is never half there. */
export const removeDirectory = async (layout: Layout, target: string): Promise<string> => {
  assertNoLinks(layout.root, dirname(target));
  const trash = join(layout.trash, `${basename(target)}-${randomUUID()}`);
  renameSync(target, trash);
  await syncDirectory(dirname(target));
  return trash;
};

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** Makes a directory and the ones above it, and tells the disk of each that is new. */
export const makeDirectory = (path: string): void => {
  const first = mkdirSync(path, { recursive: true });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) syncSoon(dirname(made));
};

// The caller's own fsync of the file's directory follows; the ones above are only needed for their new names.
const syncSoon = (path: string): void => {
  syncDirectory(path).catch(() => undefined);
};

export const syncDirectory = async (path: string): Promise<void> => {
  await withHandle(await open(path, 'r'), (handle) => handle.sync());
};

const writeTemporary = async (
  layout: Layout,
  bytes: Buffer | string,
  mode?: number,
): Promise<string> => {
  const path = join(layout.tmp, randomUUID());
  try {
    await writeSynced(path, bytes, mode);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
  return path;
};

const writeSynced = async (path: string, bytes: Buffer | string, mode = 0o644): Promise<void> => {
  const write = async (handle: FileHandle): Promise<void> => {
    await handle.writeFile(bytes);
    await handle.sync();
  };
  await withHandle(await open(path, 'wx', mode), write);
};

const withHandle = async <T>(
  handle: FileHandle,
  work: (handle: FileHandle) => Promise<T>,
): Promise<T> => {
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
};

const stillHolds = (target: string, stats: Stats | undefined, expected: Buffer): stats is Stats => {
  if (stats === undefined || stats.size !== expected.length) return false;
  if (!stats.isFile())
    throw new StoreError('unsafe_path', `${basename(target)} is not a regular file`);
  return readFileSync(target).equals(expected);
};

// Who may read a file is the operator's choice, also of one that is replaced. Only root can give a file away.
const keepOwner = (path: string, { mode, uid, gid }: Stats): void => {
  try {
    lchownSync(path, uid, gid);
  } catch (error) {
    if (!hasCode(error, 'EPERM')) throw error;
  }
  chmodSync(path, mode & 0o7777);
};

const keepForUndo = (layout: Layout, target: string): void => {
  const day = join(layout.undo, new Date().toISOString().slice(0, 10));
  mkdirSync(day, { recursive: true });
  linkSync(target, join(day, `${Date.now()}-${randomUUID().slice(0, 8)}-${basename(target)}`));
};
