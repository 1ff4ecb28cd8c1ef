import { rmdirSync, rmSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { isDone } from '../../base/attempt.ts';
import { StoreError } from '../../base/errors.ts';
import { etagOf } from '../../base/names.ts';
import { exchangeFile, hasCode, unlessGone } from '../durable.ts';
import { moveToUndo, putNew } from '../placing.ts';
import { statsAt } from '../plain-path.ts';
import { writeSynced } from '../synced.ts';
import { repeat } from '../until-done.ts';
import {
  inFolder,
  LINK,
  makeFolder,
  pathIn,
  syncFolder,
  type Tree,
  type TreeFolder,
} from './folder.ts';
import { hiddenName } from './own-links.ts';
import { assertNewName, pathNames } from './path.ts';
import { assertPlain, fileOf, readIn, type TreeFile } from './read.ts';

/**
 * Makes a file that must not be there yet, with the directories on the way to it; undefined when something has that name.
 * It is there whole or not at all, and on disk when this resolves.
 */
export const createTreeFile = (
  tree: Tree,
  path: string,
  bytes: Buffer,
): Promise<TreeFile | undefined> =>
  inParent(
    tree,
    path,
    async (folder, name) => {
      assertNewName(name);
      const done = await viaTemporary(tree, { folder, bytes, mode: NEW }, (ready) => {
        folder.assertInPlace();
        if (!putNew(ready, folder.at(name))) return false;
        // It has one name from here on, as every file that is read here must.
        rmSync(ready, { force: true });
        return true;
      });
      if (!done) return undefined;
      await syncFolder(folder);
      return fileOf(folder, name, bytes);
    },
    { make: true },
  );

// As any editor makes a file: what the mask of this process leaves of it. One that is replaced gets the modes of that.
const NEW = 0o666;
const PRIVATE = 0o600;

/** Makes a directory, with those on the way to it; false when something has that name. */
export const makeTreeFolder = async (tree: Tree, path: string): Promise<boolean> => {
  const make = async (parent: TreeFolder, name: string): Promise<boolean> => {
    const isMade = makeFolder(parent, name);
    if (isMade) await syncFolder(parent);
    return isMade;
  };
  return (await inParent(tree, path, make, { make: true })) === true;
};

/**
 * Writes a file that is there, and keeps the former one in `.dossier/undo`; undefined when there is none. Mode and owner
 * stay. Throws `precondition_failed` where it is not the one with this tag, `file_busy` where it does not hold still.
 */
export const replaceTreeFile = (
  tree: Tree,
  path: string,
  { bytes, ifMatch }: { bytes: Buffer; ifMatch: string | undefined },
): Promise<TreeFile | undefined> =>
  inParent(tree, path, async (folder, name) => {
    const replaced = await repeat(async () => {
      const before = readIn(tree, folder, name);
      if (before === undefined) return 'absent';
      checkTag(before, ifMatch);
      const target = folder.at(name);
      const done = await viaTemporary(tree, { folder, bytes, mode: PRIVATE }, (temporary) =>
        unlessGone(tree.layout, temporary, () => {
          folder.assertInPlace();
          return exchangeFile(tree.layout, { temporary, target, expected: before.bytes });
        }),
      );
      if (!done) return undefined;
      await syncFolder(folder);
      return fileOf(folder, name, bytes);
    });
    if (replaced !== undefined) return replaced === 'absent' ? undefined : replaced;
    throw new StoreError(
      'file_busy',
      `${path} changed again and again while it was written; nothing was. Try again`,
    );
  });

export type Removed = 'removed' | 'absent' | 'not_empty';

/** Removes a file, which is kept in `.dossier/undo`, or a directory that is empty. */
export const removeFromTree = async (
  tree: Tree,
  path: string,
  ifMatch: string | undefined,
): Promise<Removed> => {
  const done = await inParent(tree, path, async (folder, name): Promise<Removed> => {
    const stats = statsAt(folder.at(name));
    if (stats === undefined) return 'absent';
    folder.assertInPlace();
    if (stats.isDirectory()) return removeFolder(folder, name);
    refuseUnkept(pathIn(folder, name), stats);
    if (ifMatch !== undefined) checkTag(readIn(tree, folder, name), ifMatch);
    moveToUndo(tree.layout, folder.at(name));
    await syncFolder(folder);
    return 'removed';
  });
  return done ?? 'absent';
};

const removeFolder = (folder: TreeFolder, name: string): Removed =>
  isDone(() => rmdirSync(folder.at(name)), 'ENOTEMPTY', 'EEXIST') ? 'removed' : 'not_empty';

const LARGEST_KEPT = 64 * 1_048_576;

const refuseUnkept = (path: string, stats: Stats): void => {
  if (stats.isSymbolicLink()) throw new StoreError('unsafe_path', `${path} ${LINK}`);
  if (!stats.isFile()) assertPlain(path, stats);
  if (stats.size <= LARGEST_KEPT) return;
  const message = `${path} has ${stats.size} bytes, and what is deleted here is kept for some days: ${LARGEST_KEPT} at most. Delete it in the worktree itself`;
  throw new StoreError('too_large', message, { size: stats.size, max_bytes: LARGEST_KEPT });
};

const checkTag = (file: TreeFile | undefined, ifMatch: string | undefined): void => {
  if (ifMatch === undefined || (file !== undefined && etagOf(file.sha256) === ifMatch)) return;
  throw new StoreError(
    'precondition_failed',
    'The file changed since you read it. Read it again, and write what you want of both',
  );
};

/** Runs work in the directory of a path, with the path's last name. */
export const inParent = <T>(
  tree: Tree,
  path: string,
  work: (folder: TreeFolder, name: string) => T | Promise<T>,
  options: { make?: boolean } = {},
): Promise<T | undefined> => {
  const names = pathNames(path);
  const name = names.pop() ?? '';
  return inFolder(tree, names, (folder) => work(folder, name), options);
};

interface Wanted {
  folder: TreeFolder;
  bytes: Buffer;
  mode: number;
}

/**
 * Writes a file where neither git nor a watcher sees it, and puts it in its place: in `.dossier/tmp`; on another disk
 * in the git directory; beside its place only where that is on a third one.
 */
const viaTemporary = async (
  { layout, git_dir }: Tree,
  { folder, ...wanted }: Wanted,
  put: (ready: string) => boolean,
): Promise<boolean> => {
  const hidden = hiddenName();
  for (const dir of [layout.tmp, git_dir].filter((each) => statsAt(each)?.dev === folder.dev)) {
    try {
      return await writtenTo(join(dir, hidden), wanted, put);
    } catch (error) {
      // The same disk, mounted twice.
      if (!hasCode(error, 'EXDEV')) throw error;
    }
  }
  folder.assertInPlace();
  return writtenTo(folder.at(hidden), wanted, put);
};

const writtenTo = async (
  ready: string,
  { bytes, mode }: Omit<Wanted, 'folder'>,
  put: (ready: string) => boolean,
): Promise<boolean> => {
  try {
    await writeSynced(ready, bytes, mode);
    return put(ready);
  } finally {
    rmSync(ready, { force: true });
  }
};
