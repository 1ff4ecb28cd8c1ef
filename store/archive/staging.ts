import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, statfsSync, statSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError } from '../base/errors.ts';
import { makeDirectory, replaceFile } from '../fs/durable.ts';
import { putNew } from '../fs/place.ts';
import { assertNoLinks, statsAt } from '../fs/plain-path.ts';
import { syncDirectory, withHandle } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import type { HeldWorkspace } from '../workspace/hold.ts';
import { defaultAt } from './standing.ts';

/** What is to come into a workspace, as it will stand there, in a directory from which it can be renamed into place. */
export interface Staging {
  readonly layout: Layout;
  readonly dir: string;
}

/** As many files are written at once: each waits for the disk most of the time. */
const LANES = 8;

/** Only for whoever holds the workspace: what an earlier one left is removed. */
export const openStaging = (layout: Layout): Staging => {
  for (const name of readdirSync(layout.root))
    if (LEFT.test(name)) rmSync(join(layout.root, name), { recursive: true, force: true });
  const dir = stagingPlace(layout);
  mkdirSync(dir);
  return { layout, dir };
};

// Nothing is renamed from one file system to another. Watchers, git and exports ignore the other name.
const stagingPlace = ({ root, tmp }: Layout): string => {
  const id = randomUUID().slice(0, 8);
  return statSync(tmp).dev === statSync(root).dev
    ? join(tmp, `import-${id}`)
    : join(root, `.dossier-import-${id}.tmp`);
};

const LEFT = /^\.dossier-import-[0-9a-f]{8}\.tmp$/;

export const dropStaging = ({ dir }: Staging): void =>
  rmSync(dir, { recursive: true, force: true });

/** Throws `too_large` while nothing is written yet, when the disk cannot take all of it. */
export const checkSpace = ({ dir }: Staging, files: readonly { size: number }[]): void => {
  const { bavail, bsize } = statfsSync(dir);
  const free = bavail * bsize;
  // A file of any size takes a block.
  const wanted = files.reduce((sum, { size }) => sum + size + bsize, 0);
  if (wanted > free)
    throw new StoreError(
      'too_large',
      `This needs ${wanted} bytes, and the disk of the workspace has ${free} left. Nothing was imported.`,
    );
};

export interface StagedFile {
  /** Relative to the workspace, with slashes. */
  path: string;
  mode: number;
  mtime: Date;
}

/** Puts files there, with their times and permissions; all their bytes are on disk when this resolves. */
export const stageFiles = async <T extends StagedFile>(
  { dir }: Staging,
  files: Iterable<T>,
  bytesOf: (file: T) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> => {
  await inParallel(files, LANES, async (file) => {
    const path = join(dir, file.path);
    mkdirSync(dirname(path), { recursive: true });
    await writeFile(path, file, bytesOf(file));
  });
  // Only now: the first sync takes most of what was written with it, and each file's own would wait for the disk anew.
  await inParallel(everythingBelow(dir), LANES, ({ path, sync }) => sync(path));
};

const writeFile = async (
  path: string,
  { mode, mtime }: StagedFile,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> => {
  // Whatever it was elsewhere, here its owner reads and writes it.
  await withHandle(await open(path, 'wx', mode | 0o600), async (handle) => {
    for await (const chunk of bytes) await handle.writeFile(chunk);
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

/** Moves a directory into the workspace by one rename, whole or not at all; false when something is there by now. */
export const moveDirectoryIn = ({ layout, dir }: Staging, path: string): boolean => {
  const target = placeFor(layout, path);
  // A rename would take the place of an empty directory.
  if (statsAt(target) !== undefined) return false;
  renameSync(join(dir, path), target);
  return true;
};

/** Moves a file into the workspace; false when one is there by now. */
export const moveFileIn = ({ layout, dir }: Staging, path: string): boolean =>
  putNew(join(dir, path), placeFor(layout, path));

const placeFor = ({ root }: Layout, path: string): string => {
  const target = join(root, path);
  assertNoLinks(root, dirname(target));
  makeDirectory(dirname(target));
  return target;
};

/** Has the disk know of what was moved in: all of it stays, also when the power fails, once this resolves. */
export const syncPlaces = async ({ root }: Layout, paths: Iterable<string>): Promise<void> => {
  const places = new Set<string>();
  for (const path of paths)
    for (let at = dirname(path); !places.has(at); at = dirname(at)) places.add(at);
  await inParallel(places, LANES, (place) => syncDirectory(join(root, place)));
};

/** Does work on each, on at most so many at once. Ends with the first error, once nothing is under way any more. */
export const inParallel = async <T>(
  all: Iterable<T>,
  lanes: number,
  work: (each: T) => Promise<void>,
): Promise<void> => {
  const rest = all[Symbol.iterator]();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true && !failed; next = rest.next())
      await work(next.value).catch((error: unknown) => {
        failed = true;
        throw error;
      });
  };
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  const first = ends.find((end) => end.status === 'rejected');
  if (first !== undefined) throw first.reason;
};

/** What of the staging comes into the workspace: by its paths there. */
export interface Arriving {
  /** Work items. */
  directories: readonly string[];
  files: readonly string[];
  /** Files whose place a new workspace's own file has. */
  replacing: readonly string[];
}

/**
 * Moves what is staged into the workspace, Work item by Work item, each whole or not at all. Cut off at any point, it can
 * be done again: what came in stands as it was staged. All of it is on disk when this resolves.
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
    // Somebody can have put something there since it was looked at: an editor, or git.
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
    `${path} was made or changed while the import ran, and was left as it is. Run the import again: what came in is skipped.`,
  );
