import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasCode, isDone, orElse } from '../../base/attempt.ts';
import { StoreError } from '../../base/errors.ts';
import { recordChange } from '../../base/write-stage.ts';
import type { Layout } from '../../layout.ts';
import { syncIfThere } from '../durable.ts';
import { DESCRIPTORS, hasDescriptors, isOpenAt, isSameFile, statsAt } from '../plain-path.ts';
import { assertNewName, namesOfFolder, pathNames } from './path.ts';

/** A directory of the operator's files, such as a worktree, in which untrusted programs run at the same time. */
export interface Tree {
  layout: Layout;
  /** Absolute, without links. */
  root: string;
  /** The directory for temporary files: usually on the same disk as the files, and outside of them. */
  git_dir: string;
  /** Absolute paths of directories that this tree may not be used to enter. */
  closed: readonly string[];
}

/** An open directory: its names resolve inside it, even if its path is moved or replaced meanwhile. */
export interface TreeFolder {
  /** Relative to the top of the tree; empty for the top. */
  readonly path: string;
  /** A path to the directory itself. */
  readonly self: string;
  /** The id of its device. */
  readonly dev: number;
  /** A path to a name in it. */
  at(name: string): string;
  /** Throws `file_busy` if the directory was moved or replaced. Call it right before a change. */
  assertInPlace(): void;
}

/**
 * Runs work in a directory of a tree, opened name by name without following links; undefined if it does not exist. With
 * `make`, missing directories are created. Throws `unsafe_path` if a name is a link or not a directory.
 *
 * On Linux, `/proc/self/fd` guarantees that work happens in the opened directory. Elsewhere the path is checked again
 * before each step, which leaves a moment in which a link can be put there.
 */
export const inFolder = async <T>(
  tree: Tree,
  names: readonly string[],
  work: (folder: TreeFolder) => T | Promise<T>,
  { make = false } = {},
): Promise<T | undefined> => {
  let held = openTop(tree);
  try {
    for (const name of names) {
      const next = openChild(tree, held, name) ?? (make ? makeChild(tree, held, name) : undefined);
      if (next === undefined) return undefined;
      closeSync(held.descriptor);
      held = next;
    }
    held.assertInPlace();
    return await work(held);
  } finally {
    closeSync(held.descriptor);
  }
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

interface Held extends TreeFolder {
  descriptor: number;
  names: readonly string[];
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
const FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;

const openTop = (tree: Tree): Held => hold(tree, [], openSync(tree.root, FLAGS));

const openChild = (tree: Tree, parent: Held, name: string): Held | undefined => {
  try {
    const child = hold(tree, [...parent.names, name], openSync(parent.at(name), FLAGS));
    refuseClosed(tree, child);
    return child;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (hasCode(error, 'ENOTDIR', 'ELOOP')) throw noFolder(parent, name);
    throw error;
  }
};

const makeChild = (tree: Tree, parent: Held, name: string): Held | undefined => {
  makeFolder(parent, name);
  return openChild(tree, parent, name);
};

/** Creates a directory; false if the name is taken. */
export const makeFolder = (parent: TreeFolder, name: string): boolean => {
  assertNewName(name);
  parent.assertInPlace();
  return isDone(() => mkdirSync(parent.at(name)), 'EEXIST');
};

/**
 * Syncs a directory and its parents up to the top of the tree. Call it after a change to the directory: until it resolves,
 * the change may be lost in a power cut.
 */
export const syncFolder = ({ self, path }: TreeFolder): Promise<void> => {
  recordChange(self);
  return syncWay(self, namesOfFolder(path).length);
};

// Compares inodes, because a file system may know a directory by several names.
const refuseClosed = ({ closed }: Tree, { descriptor, path }: Held): void => {
  const stats = fstatSync(descriptor);
  if (!closed.some((each) => isSameFile(statsAt(each), stats))) return;
  closeSync(descriptor);
  throw new StoreError('unsafe_path', `${path} belongs to Dossier and is not served`);
};

const noFolder = (parent: TreeFolder, name: string): StoreError => {
  const what =
    statsAt(parent.at(name))?.isSymbolicLink() === true
      ? LINK
      : 'is not a directory. Use another path';
  return new StoreError('unsafe_path', `${pathIn(parent, name)} ${what}`);
};

export const LINK =
  'is a symbolic link; nothing behind it is read or written. Open or change it with another program';

/** The path of a name in a folder, relative to the top of the tree. */
export const pathIn = ({ path }: TreeFolder, name: string): string =>
  path === '' ? name : `${path}/${name}`;

const hold = (tree: Tree, names: readonly string[], descriptor: number): Held => {
  const meant = join(tree.root, ...names);
  const own = `${DESCRIPTORS}/${descriptor}`;
  const path = names.join('/');
  const isInPlace = hasDescriptors
    ? () => isOpenAt(descriptor, meant)
    : () => isSame(descriptor, meant);
  const assertInPlace = (): void => {
    if (!isInPlace()) throw moved(path);
  };
  return {
    descriptor,
    names,
    path,
    self: hasDescriptors ? own : meant,
    dev: fstatSync(descriptor).dev,
    at: (name) => {
      if (hasDescriptors) return `${own}/${name}`;
      assertInPlace();
      return join(meant, name);
    },
    assertInPlace,
  };
};

const isSame = (descriptor: number, path: string): boolean => {
  const look = (): boolean =>
    isSameFile(fstatSync(descriptor), lstatSync(path)) && realpathSync(path) === path;
  return orElse(look, false, 'ENOENT', 'ENOTDIR', 'ELOOP');
};

const moved = (path: string): StoreError =>
  new StoreError(
    'file_busy',
    `${path === '' ? 'The top directory' : path} was moved, removed or replaced meanwhile; nothing was written. Check the directory, then try again`,
  );

/**
 * Syncs a directory and `levels` directories above it. `..` is its real parent, even if the path was replaced.
 */
const syncWay = async (dir: string, levels: number): Promise<void> => {
  const above = Array.from({ length: levels + 1 }, (_, up) => `${dir}${'/..'.repeat(up)}`);
  // A directory that was removed meanwhile has no parent.
  await Promise.all(above.map(syncIfThere));
};
