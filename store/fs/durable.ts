import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, type Stats } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { isDone } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { notePlaced, noteTakenBack, placing } from '../base/write-stage.ts';
import type { Layout } from '../layout.ts';
import { gitIsDone } from './git-work.ts';
import { lasting } from './late.ts';
import { keepOwner, keptForUndo, moveToUndo, putNew } from './placing.ts';
import { assertNoLinks, isDirectoryItself, statsAt } from './plain-path.ts';
import { type Content, syncDirectory, writeSynced } from './synced.ts';

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
  const write = async (path: string): Promise<void> => {
    await writeSynced(path, bytes);
    await gitIsDone(layout);
  };
  const done = await viaTemporary(layout, target, write, (temporary) =>
    unlessGone(layout, temporary, () => {
      assertNoLinks(layout.root, dirname(target));
      return exchangeFile(layout, { temporary, target, expected });
    }),
  );
  if (done) await lasting(syncIfThere(dirname(target)));
  return done;
};

export interface Replacement {
  temporary: string;
  target: string;
  expected: Buffer;
}

/**
 * Puts a file that is ready in the place of one that holds what is `expected`, with its modes; false when it does not.
 * Nothing waits here: an editor has microseconds. What it writes then into the file is in `.dossier/undo` too; another
 * file in its place is seen until the very last look, for Node has no rename that exchanges.
 */
export const exchangeFile = (
  layout: Layout,
  { temporary, target, expected }: Replacement,
): boolean => {
  const before = statsAt(target);
  if (!stillHolds(target, before, expected)) return false;
  keepOwner(temporary, before);
  return keptForUndo(layout, { target, expected }, () => {
    if (statsAt(target)?.ino !== before.ino) return false;
    placing(target, () => renameSync(temporary, target));
    return true;
  });
};

/** False when the target went away meanwhile, also when it is back by now: an editor that renames leaves such a gap. */
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
  /** Throws where the directory is not the one that is meant. */
  assertMeant?: (() => void) | undefined;
}

/**
 * Makes a file that must not be there yet; false when it is. The directory is looked at before, and again once the file
 * is in it: out of one that is not meant it is taken back.
 */
export const createFile = async (
  layout: Layout,
  target: string,
  bytes: Content,
  { mode = 0o644, assertMeant = () => undefined }: Creation = {},
): Promise<boolean> => {
  assertNoLinks(layout.root, dirname(target));
  makeDirectory(dirname(target));
  const write = (path: string) => writeSynced(path, bytes, mode);
  const done = await viaTemporary(layout, target, write, (ready) =>
    putMeant(ready, target, assertMeant),
  );
  if (done) await lasting(syncName(target));
  return done;
};

// Nothing waits here: who moves directories has microseconds, and what is put then into another one goes back.
const putMeant = (ready: string, target: string, assertMeant: () => void): boolean => {
  assertMeant();
  const ino = statsAt(ready)?.ino;
  if (!putNew(ready, target)) return false;
  try {
    assertMeant();
  } catch (error) {
    if (statsAt(target)?.ino === ino) rmSync(target);
    noteTakenBack(target);
    throw error;
  }
  return true;
};

/** Removes a file and keeps it in `.dossier/undo`; false when there is none. */
export const removeFile = async (layout: Layout, target: string): Promise<boolean> => {
  assertNoLinks(layout.root, dirname(target));
  if (statsAt(target) === undefined) return false;
  try {
    moveToUndo(layout, target);
  } catch (error) {
    if (hasCode(error, 'ENOENT') && statsAt(target) === undefined) return false;
    throw error;
  }
  await lasting(syncIfThere(dirname(target)));
  return true;
};

/** Makes a directory with its files by one rename: it is there with all of them, or not at all. */
export const createDirectory = async (
  layout: Layout,
  target: string,
  files: Record<string, string>,
): Promise<void> => {
  assertNoLinks(layout.root, dirname(target));
  const write = async (path: string): Promise<void> => {
    // Making a directory may wait for the disk, as a sync does: not on the event loop.
    await mkdir(path);
    const texts = Object.entries(files);
    await Promise.all(texts.map(([name, text]) => writeSynced(join(path, name), text)));
    await syncDirectory(path);
  };
  await viaTemporary(layout, target, write, (ready) =>
    placing(target, () => moveTo(ready, target)),
  );
  await lasting(syncName(target));
};

/**
 * Writes what is to be put at `target`, and puts it there. It is written in `.dossier/tmp`, where nobody watches; but
 * beside the target where that is on another file system. What is left of it is removed.
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
  if (!apart.has(layout)) {
    try {
      return await at(join(layout.tmp, randomUUID()));
    } catch (error) {
      if (!hasCode(error, 'EXDEV')) throw error;
    }
    apart.add(layout);
  }
  makeDirectory(dirname(target));
  return at(beside(target));
};

/** Removes what is left of a write, of which it is known what became; what stays goes with the next, or at the next start. */
export const dropTemporary = (path: string): void => {
  leftovers.add(path);
  for (const each of leftovers)
    if (isDone(() => rmSync(each, { recursive: true, force: true }))) leftovers.delete(each);
};

/** Temporary files that could not be removed yet. */
const leftovers = new Set<string>();

/** Workspaces whose `.dossier` was met on another file system: nothing is renamed from there. */
const apart = new WeakSet<Layout>();

/** A new name for what is made for a moment: watchers, git and exports ignore it. */
export const beside = (target: string): string =>
  join(dirname(target), `.dossier-${randomUUID().slice(0, 8)}.tmp`);

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

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** Makes a directory and the ones above it, and tells the disk of each that is new. */
export const makeDirectory = (path: string): void => {
  if (isDirectoryItself(path)) return;
  try {
    mkdirSync(path);
  } catch (error) {
    // One level at a time: Node's own way up answers ENOENT for a disk that is read-only.
    if (hasCode(error, 'EEXIST') && isDirectoryItself(path)) return;
    if (!hasCode(error, 'ENOENT') || isDirectoryItself(dirname(path))) throw error;
    makeDirectory(dirname(path));
    makeDirectory(path);
    return;
  }
  syncSoon(dirname(path));
};

// What is made inside goes on meanwhile, and waits for it at its end.
const syncSoon = (path: string): void => {
  const synced = syncIfThere(path);
  const naming = { path, synced };
  namings.add(naming);
  const done = (): void => void namings.delete(naming);
  synced.then(done, done);
};

/** Directories in which a new one was made, until the disk knows its name. */
const namings = new Set<{ path: string; synced: Promise<void> }>();

/** Resolves when the disk knows the name of what was made at `target`, and of each new directory on the way to it. */
const syncName = async (target: string): Promise<void> => {
  const above = [...namings].filter(({ path }) => target.startsWith(path + sep));
  await Promise.all([syncIfThere(dirname(target)), ...above.map(({ synced }) => synced)]);
};

// git removes a folder once it is empty: then nothing in it has to last.
export const syncIfThere = (path: string): Promise<void> =>
  syncDirectory(path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });

/** Resolves when the disk knows the names in a directory that the same call put there before, and could not sync. */
export const syncMade = (path: string): Promise<void> => {
  notePlaced(path);
  return syncIfThere(path);
};

const stillHolds = (target: string, stats: Stats | undefined, expected: Buffer): stats is Stats => {
  if (stats === undefined || stats.size !== expected.length) return false;
  if (!stats.isFile())
    throw new StoreError('unsafe_path', `${basename(target)} is not a regular file`);
  return readFileSync(target).equals(expected);
};
