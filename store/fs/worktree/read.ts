import { constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { hasCode } from '../../base/attempt.ts';
import { StoreError } from '../../base/errors.ts';
import { whileOpen } from '../../base/open-file.ts';
import { sha256 } from '../../base/sha256.ts';
import { statsAt } from '../plain-path.ts';
import { inParent, LINK, pathIn, type Tree, type TreeFolder } from './folder.ts';
import { hasOnlyOwnLinks } from './hard-links.ts';

/** The largest file that is read or written, in bytes. */
export const LARGEST_FILE = 4 * 1_048_576;

/** A file of a tree as it was read. */
export interface TreeFile {
  path: string;
  bytes: Buffer;
  sha256: string;
}

/** Reads a file; undefined if there is none. Throws `unsafe_path` for anything but a regular file, and `too_large`. */
export const readTreeFile = async (tree: Tree, path: string): Promise<TreeFile | undefined> =>
  inParent(tree, path, (folder, name) => readIn(tree, folder, name));

/** Like `readTreeFile`, in an open directory. */
export const readIn = (tree: Tree, folder: TreeFolder, name: string): TreeFile | undefined => {
  const path = pathIn(folder, name);
  const found = statsAt(folder.at(name));
  if (found === undefined) return undefined;
  // Checked before opening too, because opening a device can have effects.
  assertPlain(path, found);
  const opened = openPlain(folder, name);
  if (opened === undefined) return undefined;
  return whileOpen(opened, (descriptor) => {
    const stats = fstatSync(descriptor);
    assertPlain(path, stats);
    if (stats.nlink > 1 && !hasOnlyOwnLinks(tree, folder, stats)) throw linked(path);
    const bytes = stats.size > LARGEST_FILE ? undefined : readFileSync(descriptor);
    if (bytes === undefined || bytes.length > LARGEST_FILE) throw tooLarge(path, stats.size);
    return fileOf(folder, name, bytes);
  });
};

export const fileOf = (folder: TreeFolder, name: string, bytes: Buffer): TreeFile => ({
  path: pathIn(folder, name),
  bytes,
  sha256: sha256(bytes),
});

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

const openPlain = (folder: TreeFolder, name: string): number | undefined => {
  try {
    return openSync(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (hasCode(error, 'ELOOP'))
      throw new StoreError('unsafe_path', `${pathIn(folder, name)} ${LINK}`);
    throw error;
  }
};

/** Throws unless it is a regular file. */
export const assertPlain = (path: string, stats: Stats): void => {
  const wrong = wrongKind(stats);
  if (wrong !== undefined) throw new StoreError('unsafe_path', `${path} ${wrong}`);
};

const wrongKind = (stats: Stats): string | undefined => {
  if (stats.isSymbolicLink()) return LINK;
  if (stats.isDirectory()) return 'is a directory. Name a file in it';
  if (!stats.isFile()) return 'is a pipe, a socket or a device. Name a regular file';
  return undefined;
};

// The other hard links may be outside the tree.
const linked = (path: string): StoreError =>
  new StoreError(
    'unsafe_path',
    `${path} has other hard links, which may belong to other programs. Copy the file to a new one and rename that over it`,
  );

/** The error for a file larger than `LARGEST_FILE`. */
export const tooLarge = (path: string, size: number): StoreError =>
  new StoreError(
    'too_large',
    `${path} has ${size} bytes; the limit is ${LARGEST_FILE}. Open it in the worktree itself`,
    { size, max_bytes: LARGEST_FILE },
  );
