import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { inParallel } from '../../base/async.ts';
import { hasCode } from '../../base/attempt.ts';
import { StoreError } from '../../base/errors.ts';
import { withHandle } from '../../base/open-file.ts';
import { statsAt } from '../plain-path.ts';
import { syncDirectory } from '../synced.ts';
import { inFolder, type Tree, type TreeFolder } from './folder.ts';

/** Paths relative to the top of a tree. */
export interface TreePaths {
  there: readonly string[];
  /** Removed files: the removal, too, is on disk only once the directory is synced. */
  gone: readonly string[];
}

/**
 * Syncs files, their names and the directories above them. False if one could not be synced: it is a directory (such as a
 * submodule), was moved or removed meanwhile, or cannot be opened.
 */
export const syncTreePaths = async (tree: Tree, { there, gone }: TreePaths): Promise<boolean> => {
  const folders = new Map<string, string[]>([['', []]]);
  for (const path of [...there, ...gone])
    for (let folder = above(path); folder !== ''; folder = above(folder))
      if (!folders.has(folder)) folders.set(folder, []);
  for (const path of there) folders.get(above(path))?.push(path.slice(path.lastIndexOf('/') + 1));
  const synced: boolean[] = [];
  await inParallel(folders, AT_ONCE, async ([path, names]) => {
    synced.push(await syncIn(tree, path, names));
  });
  return synced.every(Boolean);
};

// A disk syncs several files in little more time than one.
const AT_ONCE = 8;

const above = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

const syncIn = async (tree: Tree, path: string, names: readonly string[]): Promise<boolean> => {
  const sync = async (folder: TreeFolder): Promise<boolean> => {
    const synced = await Promise.all(names.map((name) => syncFile(folder.at(name))));
    await syncDirectory(folder.self);
    return synced.every(Boolean);
  };
  try {
    const isSynced = await inFolder(tree, path === '' ? [] : path.split('/'), sync);
    return isSynced ?? names.length === 0;
  } catch (error) {
    // The directory was moved, or replaced by a link or a file.
    if (error instanceof StoreError) return false;
    throw error;
  }
};

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

const syncFile = async (path: string): Promise<boolean> => {
  const stats = statsAt(path);
  if (stats?.isFile() !== true) return isNameOnly(stats);
  try {
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    await withHandle(handle, () => handle.sync());
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP', 'EACCES', 'EPERM')) return false;
    throw error;
  }
};

// A link or a pipe has no content beyond its directory entry.
const isNameOnly = (stats: Stats | undefined): boolean =>
  stats !== undefined && !stats.isDirectory();
