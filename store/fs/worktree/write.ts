import { rmdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { hasCode, isDone } from '../../base/attempt.ts';
import { StoreError } from '../../base/errors.ts';
import { etagOf, meets } from '../../base/names.ts';
import { exchangeFile, unlessGone } from '../durable.ts';
import { moveToUndo, placeNew } from '../place.ts';
import { statsAt } from '../plain-path.ts';
import { unlinkIfThere } from '../remove.ts';
import { repeat } from '../retry.ts';
import { writeSynced } from '../synced.ts';
import {
  inParent,
  LINK,
  makeFolder,
  pathIn,
  syncFolder,
  type Tree,
  type TreeFolder,
} from './folder.ts';
import { hiddenName } from './hard-links.ts';
import { assertNewName } from './path.ts';
import { assertPlain, fileOf, readIn, type TreeFile } from './read.ts';

/**
 * Creates a file atomically, with missing parent directories; undefined if the name is taken. Resolves when the file is
 * on disk.
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
        if (!placeNew(ready, folder.at(name))) return false;
        // Reads refuse a file with a second name.
        unlinkIfThere(ready);
        return true;
      });
      if (!done) return undefined;
      await syncFolder(folder);
      return fileOf(folder, name, bytes);
    },
    { make: true },
  );

// As editors create files: subject to the umask. A replacement gets the mode of the file it replaces.
const NEW = 0o666;
const PRIVATE = 0o600;

/** Creates a directory and its missing parents; false if the name is taken. */
export const makeTreeFolder = async (tree: Tree, path: string): Promise<boolean> => {
  const make = async (parent: TreeFolder, name: string): Promise<boolean> => {
    const isMade = makeFolder(parent, name);
    if (isMade) await syncFolder(parent);
    return isMade;
  };
  return (await inParent(tree, path, make, { make: true })) === true;
};

/**
 * Replaces a file, and keeps the old one in `.dossier/undo`; undefined if there is none. Mode and owner stay. Throws
 * `precondition_failed` if the ETag differs, and `file_busy` if the file keeps changing.
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
      `${path} kept changing while it was being written; nothing was written. Try again`,
    );
  });

export type Removed = 'removed' | 'absent' | 'not_empty';

/** Moves a file to `.dossier/undo`, or removes an empty directory. */
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
  const message = `${path} has ${stats.size} bytes; deleted files are kept for some days, up to ${LARGEST_KEPT} bytes each. Delete it in the worktree itself`;
  throw new StoreError('too_large', message, { size: stats.size, max_bytes: LARGEST_KEPT });
};

const checkTag = (file: TreeFile | undefined, ifMatch: string | undefined): void => {
  if (meets(ifMatch, file && etagOf(file.sha256))) return;
  throw new StoreError(
    'precondition_failed',
    'The file changed since you read it. Read it again and merge your changes',
  );
};

interface NewFile {
  folder: TreeFolder;
  bytes: Buffer;
  mode: number;
}

/**
 * Writes a temporary file on the disk of its target and puts it there: in `.dossier/tmp` or the git directory, where
 * neither git nor a watcher sees it; beside the target only if that is on a third disk.
 */
const viaTemporary = async (
  { layout, git_dir }: Tree,
  { folder, ...file }: NewFile,
  put: (ready: string) => boolean,
): Promise<boolean> => {
  const hidden = hiddenName();
  for (const dir of [layout.tmp, git_dir].filter((each) => statsAt(each)?.dev === folder.dev)) {
    try {
      return await writeThenPut(join(dir, hidden), file, put);
    } catch (error) {
      // The same device can be mounted twice.
      if (!hasCode(error, 'EXDEV')) throw error;
    }
  }
  folder.assertInPlace();
  return writeThenPut(folder.at(hidden), file, put);
};

const writeThenPut = async (
  ready: string,
  { bytes, mode }: Omit<NewFile, 'folder'>,
  put: (ready: string) => boolean,
): Promise<boolean> => {
  try {
    await writeSynced(ready, bytes, mode);
    return put(ready);
  } finally {
    unlinkIfThere(ready);
  }
};
