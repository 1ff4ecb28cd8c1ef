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
import { isDone, orElse } from '../../base/attempt.ts';
import { StoreError } from '../../base/errors.ts';
import { notePlaced } from '../../base/write-stage.ts';
import type { Layout } from '../../layout.ts';
import { hasCode, syncIfThere } from '../durable.ts';
import { DESCRIPTORS, hasDescriptors, isOpenAt, statsAt } from '../plain-path.ts';
import { assertNewName, namesOfFolder } from './path.ts';

/** A directory of the operator's files, such as a worktree. Programs work in it meanwhile, and not all mean well. */
export interface Tree {
  layout: Layout;
  /** Absolute, without links. */
  root: string;
  /** On the same disk as its files, as a rule, and not among them: where a file is written before it gets its place. */
  git_dir: string;
  /** Directories that nobody gets into by way of this tree, absolute. */
  closed: readonly string[];
}

/** A directory that is held open: what its names lead to is in it, whatever is moved or linked elsewhere meanwhile. */
export interface TreeFolder {
  /** From the top of the tree; empty for the top. */
  readonly path: string;
  /** A path to the directory itself. */
  readonly self: string;
  /** The disk that it is on. */
  readonly dev: number;
  /** A path to a name in it. */
  at(name: string): string;
  /** Throws `file_busy` when it is not where it was opened any more. Right before something is changed in it. */
  assertInPlace(): void;
}

/**
 * Runs work in a directory of a tree, which is opened name by name, through no link; undefined where there is none. With
 * `make` what is missing on the way is made. Throws `unsafe_path` where something else stands in its place.
 *
 * On Linux what was opened is what is worked on: `/proc/self/fd` leads to it. Elsewhere the way is looked at again
 * before each step, which leaves a moment in which somebody may put a link there.
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

/** False when something has that name already. */
export const makeFolder = (parent: TreeFolder, name: string): boolean => {
  assertNewName(name);
  parent.assertInPlace();
  return isDone(() => mkdirSync(parent.at(name)), 'EEXIST');
};

/**
 * Resolves when the disk knows what is in a directory, and each name on the way to it from the top of the tree. Called once
 * a name in it is another: from here on that may last or not.
 */
export const syncFolder = ({ self, path }: TreeFolder): Promise<void> => {
  notePlaced(self);
  return syncWay(self, namesOfFolder(path).length);
};

// By what it is, not by its name: a file system may know it by several.
const refuseClosed = ({ closed }: Tree, { descriptor, path }: Held): void => {
  const { dev, ino } = fstatSync(descriptor);
  const isClosed = closed
    .map((each) => statsAt(each))
    .some((stats) => stats?.ino === ino && stats.dev === dev);
  if (!isClosed) return;
  closeSync(descriptor);
  throw new StoreError('unsafe_path', `${path} is not of the files here: nothing in it is served`);
};

const noFolder = (parent: TreeFolder, name: string): StoreError => {
  const what = statsAt(parent.at(name))?.isSymbolicLink() === true ? LINK : 'is not a directory';
  return new StoreError('unsafe_path', `${pathIn(parent, name)} ${what}`);
};

export const LINK = 'is a symbolic link; nothing behind it is read or written';

/** How a name is called in a message and in an answer. */
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
  const look = (): boolean => {
    const [held, there] = [fstatSync(descriptor), lstatSync(path)];
    return held.ino === there.ino && held.dev === there.dev && realpathSync(path) === path;
  };
  return orElse(look, false, 'ENOENT', 'ENOTDIR', 'ELOOP');
};

const moved = (path: string): StoreError =>
  new StoreError(
    'file_busy',
    `${path === '' ? 'The top directory' : path} was moved, removed or replaced this moment; nothing was written. Look at what is there, then try again`,
  );

/**
 * Resolves when the disk knows what is in a directory, and the names of the directory and of `levels` above it: whoever
 * made them, and whether or not that was synced. `..` is the directory that it is really in.
 */
const syncWay = async (dir: string, levels: number): Promise<void> => {
  const above = Array.from({ length: levels + 1 }, (_, up) => `${dir}${'/..'.repeat(up)}`);
  // A directory that a program has removed meanwhile has nothing above it.
  await Promise.all(above.map(syncIfThere));
};
