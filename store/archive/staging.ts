import { randomUUID } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inParallel } from '../base/async.ts';
import { StoreError } from '../base/errors.ts';
import { withHandle } from '../base/open-file.ts';
import { makeDirectory, replaceFile } from '../fs/durable.ts';
import { placeNew } from '../fs/place.ts';
import { assertCreatable, statsAt } from '../fs/plain-path.ts';
import { syncDirectory } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import type { HeldWorkspace } from '../workspace/hold.ts';
import { defaultAt } from './occupancy.ts';

/** A directory in which an import is prepared, on the same file system as the workspace. */
export interface Staging {
  readonly layout: Layout;
  readonly dir: string;
}

/** The number of files written at once; each mostly waits for the disk. */
const LANES = 8;

/** Creates the staging directory, and removes those of earlier imports. Requires the workspace lock. */
export const openStaging = (layout: Layout): Staging => {
  for (const name of readdirSync(layout.root))
    if (LEFT.test(name)) rmSync(join(layout.root, name), { recursive: true, force: true });
  const dir = stagingPlace(layout);
  mkdirSync(dir);
  return { layout, dir };
};

// Renames need the same file system. Watchers, git and exports ignore the second name.
const stagingPlace = ({ root, tmp }: Layout): string => {
  const id = randomUUID().slice(0, 8);
  return statSync(tmp).dev === statSync(root).dev
    ? join(tmp, `import-${id}`)
    : join(root, `.dossier-import-${id}.tmp`);
};

const LEFT = /^\.dossier-import-[0-9a-f]{8}\.tmp$/;

export const dropStaging = ({ dir }: Staging): void =>
  rmSync(dir, { recursive: true, force: true });

/** Throws `too_large` if the files do not fit on the disk. */
export const checkSpace = ({ dir }: Staging, files: readonly { size: number }[]): void => {
  const { bavail, bsize } = statfsSync(dir);
  const free = bavail * bsize;
  // A file of any size takes at least a block.
  const wanted = files.reduce((sum, { size }) => sum + size + bsize, 0);
  if (wanted > free)
    throw new StoreError(
      'too_large',
      `The import needs ${wanted} bytes, but the disk of the workspace has ${free} left. Nothing was imported.`,
    );
};

export interface StagedFile {
  /** Relative to the workspace, with slashes. */
  path: string;
  mode: number;
  mtime: Date;
}

/** Writes files with their times and permissions. Resolves when they are on disk. */
export const stageFiles = async <T extends StagedFile>(
  { dir }: Staging,
  files: Iterable<T>,
  bytesOf: (file: T) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> => {
  await inParallel(files, LANES, async (file) => {
    const path = join(dir, file.path);
    mkdirSync(dirname(path), { recursive: true });
    await writeStaged(path, file, bytesOf(file));
  });
  // Synced at the end: the first sync writes most of the data, and a sync for each file would wait for the disk each time.
  await inParallel(everythingBelow(dir), LANES, ({ path, sync }) => sync(path));
};

const writeStaged = async (
  path: string,
  { mode, mtime }: StagedFile,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> => {
  // The owner can always read and write the file.
  await withHandle(await open(path, 'wx', mode | 0o600), async (handle) => {
    await writeFile(handle, bytes);
    const time = new Date(Math.min(mtime.getTime(), Date.now()));
    await handle.utimes(time, time);
  });
};

interface Unsynced {
  path: string;
  sync: (path: string) => Promise<void>;
}

const everythingBelow = function* (dir: string): Generator<Unsynced> {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* everythingBelow(path);
    else yield { path, sync: syncFile };
  }
  yield { path: dir, sync: syncDirectory };
};

const syncFile = async (path: string): Promise<void> =>
  withHandle(await open(path, 'r+'), (handle) => handle.sync());

/** Moves a directory into the workspace by one rename; false if the name is taken. */
const moveDirectoryIn = ({ layout, dir }: Staging, path: string): boolean => {
  const target = placeFor(layout, path);
  // A rename would replace an empty directory.
  if (statsAt(target) !== undefined) return false;
  renameSync(join(dir, path), target);
  return true;
};

/** Moves a file into the workspace; false if the name is taken. */
const moveFileIn = ({ layout, dir }: Staging, path: string): boolean =>
  placeNew(join(dir, path), placeFor(layout, path));

const placeFor = ({ root }: Layout, path: string): string => {
  const target = join(root, path);
  assertCreatable(root, dirname(target));
  makeDirectory(dirname(target));
  return target;
};

/** Syncs the directories of moved files. */
const syncPlaces = async ({ root }: Layout, paths: Iterable<string>): Promise<void> => {
  const places = new Set<string>();
  for (const path of paths)
    for (let at = dirname(path); !places.has(at); at = dirname(at)) places.add(at);
  await inParallel(places, LANES, (place) => syncDirectory(join(root, place)));
};

/** The staged files to move in, by their paths in the workspace. */
interface Arriving {
  /** Work items. */
  directories: readonly string[];
  files: readonly string[];
  /** Files that replace an unchanged default file of a new workspace. */
  replacing: readonly string[];
}

/**
 * Moves staged files into the workspace, each Work item by one rename. An interrupted move can be repeated. Resolves when
 * everything is on disk.
 */
export const moveIn = async (
  held: HeldWorkspace,
  staging: Staging,
  { directories, files, replacing }: Arriving,
): Promise<void> => {
  const moves = [
    ...directories.map((path) => [path, moveDirectoryIn] as const),
    ...files.map((path) => [path, moveFileIn] as const),
  ];
  for (const [path, move] of moves) {
    held.check();
    // An editor or git may have created the file since it was checked.
    if (!move(staging, path)) throw changedMeanwhile(path);
  }
  for (const path of replacing) {
    held.check();
    await replace(staging, path);
  }
  await syncPlaces(staging.layout, [...directories, ...files]);
};

const replace = async ({ layout, dir }: Staging, path: string): Promise<void> => {
  const text = await defaultAt(layout, path);
  const bytes = readFileSync(join(dir, path));
  if (text === undefined) throw changedMeanwhile(path);
  if (!(await replaceFile(layout, join(layout.root, path), Buffer.from(text), bytes)))
    throw changedMeanwhile(path);
};

const changedMeanwhile = (path: string): StoreError =>
  new StoreError(
    'file_busy',
    `${path} was created or changed during the import, and was not overwritten. Run the import again; it skips files already imported.`,
  );
