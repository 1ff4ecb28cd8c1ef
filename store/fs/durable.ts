import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, type Stats, unlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { hasCode, isDone } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { noteTakenBack, recordChange, recordingChange } from '../base/write-stage.ts';
import type { Layout } from '../layout.ts';
import { whenGitIdle } from './git-dir.ts';
import { keepOwner, moveToUndo, placeNew, withUndoCopy } from './place.ts';
import { assertCreatable, assertNoLinks, isDirectoryItself, statsAt } from './plain-path.ts';
import { removeTreeSync } from './remove.ts';
import { type Content, finalSync, syncDirectory, writeSynced } from './synced.ts';

/**
 * Replaces a file atomically and durably: temporary file in `.dossier/tmp`, fsync, rename, fsync of the directory. False
 * if the file no longer has the `expected` bytes. Resolves when the new file is on disk; readers see the old or the new
 * file as a whole.
 */
export const replaceFile = async (
  layout: Layout,
  target: string,
  expected: Buffer,
  bytes: Buffer | string,
): Promise<boolean> => {
  const write = async (path: string): Promise<void> => {
    await writeSynced(path, bytes);
    await whenGitIdle(layout);
  };
  const done = await viaTemporary(layout, target, write, (temporary) =>
    unlessGone(layout, temporary, () => {
      assertNoLinks(layout.root, dirname(target));
      return exchangeFile(layout, { temporary, target, expected });
    }),
  );
  if (done) await finalSync(syncIfThere(dirname(target)));
  return done;
};

interface Replacement {
  temporary: string;
  target: string;
  expected: Buffer;
}

/**
 * Renames a finished file over one with the `expected` bytes, and keeps mode and owner; false if the bytes differ. Runs
 * without awaiting, so that an editor has microseconds to save in between. What it writes into the old file then is kept
 * in `.dossier/undo`. A replaced file is detected up to the last check: Node has no rename that exchanges.
 */
export const exchangeFile = (
  layout: Layout,
  { temporary, target, expected }: Replacement,
): boolean => {
  const before = statsAt(target);
  if (!hasContent(target, before, expected)) return false;
  keepOwner(temporary, before);
  return withUndoCopy(layout, { target, expected }, () => {
    if (statsAt(target)?.ino !== before.ino) return false;
    recordingChange(target, () => renameSync(temporary, target));
    return true;
  });
};

/** False if the target was missing for a moment, as while an editor saves by renaming. */
export const unlessGone = (
  { undo }: Layout,
  temporary: string,
  replace: () => boolean,
): boolean => {
  try {
    return replace();
  } catch (error) {
    const isOurs = statsAt(temporary) === undefined || !isDirectoryItself(undo);
    if (hasCode(error, 'ENOENT') && !isOurs) return false;
    throw error;
  }
};

export interface Creation {
  mode?: number;
  /** Throws if the directory is not the expected one. */
  assertMeant?: (() => void) | undefined;
}

/**
 * Creates a file durably; false if it exists. `assertMeant` runs before and after the file is put into the directory; if
 * it throws, the file is removed again.
 */
export const createFile = async (
  layout: Layout,
  target: string,
  bytes: Content,
  { mode = 0o644, assertMeant = () => undefined }: Creation = {},
): Promise<boolean> => {
  assertCreatable(layout.root, dirname(target));
  makeDirectory(dirname(target));
  const write = (path: string) => writeSynced(path, bytes, mode);
  const done = await viaTemporary(layout, target, write, (ready) =>
    putMeant(ready, target, assertMeant),
  );
  if (done) await finalSync(syncName(target));
  return done;
};

// Runs without awaiting, so that directories can be moved in between for microseconds only.
const putMeant = (ready: string, target: string, assertMeant: () => void): boolean => {
  assertMeant();
  const ino = statsAt(ready)?.ino;
  if (!placeNew(ready, target)) return false;
  try {
    assertMeant();
  } catch (error) {
    if (statsAt(target)?.ino === ino) unlinkSync(target);
    noteTakenBack(target);
    throw error;
  }
  return true;
};

/** Moves a file to `.dossier/undo`; false if there is none. */
export const removeFile = async (layout: Layout, target: string): Promise<boolean> => {
  assertNoLinks(layout.root, dirname(target));
  if (statsAt(target) === undefined) return false;
  try {
    moveToUndo(layout, target);
  } catch (error) {
    if (statsAt(target) !== undefined) throw error;
    if (hasCode(error, 'ENOENT')) return false;
    // The disk reported an error, and has done it.
  }
  await finalSync(syncIfThere(dirname(target)));
  return true;
};

/** Creates a directory with all its files by one rename. */
export const createDirectory = async (
  layout: Layout,
  target: string,
  files: Record<string, string>,
): Promise<void> => {
  assertCreatable(layout.root, dirname(target));
  const write = async (path: string): Promise<void> => {
    // mkdir may wait for the disk, so it must not block the event loop.
    await mkdir(path);
    const texts = Object.entries(files);
    await Promise.all(texts.map(([name, text]) => writeSynced(join(path, name), text)));
    await syncDirectory(path);
  };
  await viaTemporary(layout, target, write, (ready) =>
    recordingChange(target, () => moveTo(ready, target)),
  );
  await finalSync(syncName(target));
};

/**
 * Writes a temporary file and puts it at `target`. The file is in `.dossier/tmp`, which is not watched, or beside the
 * target if that is on another file system. It is removed if it is left over.
 */
const viaTemporary = async <T>(
  layout: Layout,
  target: string,
  write: (path: string) => Promise<void>,
  put: (ready: string) => T,
): Promise<T> => {
  const at = async (path: string): Promise<T> => {
    try {
      await write(path);
      return put(path);
    } finally {
      dropTemporary(path);
    }
  };
  if (!crossDevice.has(layout)) {
    try {
      return await at(join(layout.tmp, randomUUID()));
    } catch (error) {
      if (!hasCode(error, 'EXDEV')) throw error;
    }
    crossDevice.add(layout);
  }
  makeDirectory(dirname(target));
  return at(beside(target));
};

/** Removes a temporary file after its write. One that cannot be removed is tried again at the next call or start. */
export const dropTemporary = (path: string): void => {
  leftovers.add(path);
  for (const each of leftovers) if (isDone(() => removeTreeSync(each))) leftovers.delete(each);
};

/** Temporary files that could not be removed yet. */
const leftovers = new Set<string>();

/** Workspaces whose `.dossier` is on another file system: files cannot be renamed from there. */
const crossDevice = new WeakSet<Layout>();

/** A temporary name in the same directory, which watchers, git and exports ignore. */
export const beside = (target: string): string =>
  join(dirname(target), `.dossier-${randomUUID().slice(0, 8)}.tmp`);

// The parent directory nearly always exists.
const moveTo = (from: string, target: string): void => {
  try {
    renameSync(from, target);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    makeDirectory(dirname(target));
    renameSync(from, target);
  }
};

/** Creates a directory and its missing parents, and starts to sync each new name. */
export const makeDirectory = (path: string): void => {
  if (isDirectoryItself(path)) return;
  try {
    mkdirSync(path);
  } catch (error) {
    // One level at a time: Node's `recursive` reports ENOENT for a read-only disk.
    if (hasCode(error, 'EEXIST') && isDirectoryItself(path)) return;
    if (!hasCode(error, 'ENOENT') || isDirectoryItself(dirname(path))) throw error;
    makeDirectory(dirname(path));
    makeDirectory(path);
    return;
  }
  syncSoon(dirname(path));
};

// Writes inside the new directory continue meanwhile and await this sync at their end.
const syncSoon = (path: string): void => {
  const synced = syncIfThere(path);
  const naming = { path, synced };
  namings.add(naming);
  const done = (): void => void namings.delete(naming);
  synced.then(done, done);
};

/** Parents of new directories whose sync is still running. */
const namings = new Set<{ path: string; synced: Promise<void> }>();

/** Resolves when the name of `target` and of each new directory above it is on disk. */
const syncName = async (target: string): Promise<void> => {
  const above = [...namings].filter(({ path }) => target.startsWith(path + sep));
  await Promise.all([syncIfThere(dirname(target)), ...above.map(({ synced }) => synced)]);
};

/** Syncs a directory. One that is gone (git removes empty ones) needs no sync. */
export const syncIfThere = (path: string): Promise<void> =>
  syncDirectory(path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });

/** Syncs the names that the same call created in a directory and could not sync before. */
export const syncCreated = (path: string): Promise<void> => {
  recordChange(path);
  return syncIfThere(path);
};

const hasContent = (target: string, stats: Stats | undefined, expected: Buffer): stats is Stats => {
  if (stats === undefined || stats.size !== expected.length) return false;
  if (!stats.isFile())
    throw new StoreError('unsafe_path', `${basename(target)} is not a regular file`);
  return readFileSync(target).equals(expected);
};
