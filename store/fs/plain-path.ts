import { existsSync, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, relative } from 'node:path';
import { hasCode, isFailingDisk, orElse } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';

/** The stats of a path, of a link itself; undefined if nothing is there, or if a parent is a file. */
export const statsAt = (path: string): Stats | undefined =>
  orElse(() => lstatSync(path, { throwIfNoEntry: false }), undefined, 'ENOTDIR');

export const isDirectoryItself = (path: string): boolean => statsAt(path)?.isDirectory() === true;

/** Whether two looks found one file, perhaps under two names. */
export const isSameFile = (one: Stats | undefined, { dev, ino }: Stats): boolean =>
  one?.ino === ino && one.dev === dev;

/**
 * The identity of a directory, to notice another one at the same path; empty if there is none. Includes the time of birth,
 * because file systems reuse inodes.
 */
export const directoryIdentity = (stats: Stats | undefined): string =>
  stats?.isDirectory() === true ? `${stats.ino} ${stats.birthtimeMs}` : '';

/** Whether this is a directory reached from `root` without a link. `root` itself may be a link. */
export const isPlainDirectory = (root: string, path: string): boolean =>
  isDirectoryItself(path) && linkOnTheWay(root, dirname(path)) === undefined;

/** Whether the path exists and neither it nor a parent below `root` is a link. */
export const isPlain = (root: string, path: string): boolean =>
  statsAt(path) !== undefined && linkOnTheWay(root, path) === undefined;

/** Whether a directory exists, is gone, or cannot be seen, for lack of permission or because the disk fails. */
export type Standing = 'there' | 'gone' | 'closed';

export const standing = (root: string, path: string): Standing => {
  try {
    return isPlainDirectory(root, path) ? 'there' : 'gone';
  } catch (error) {
    if (isFailingDisk(error) || hasCode(error, 'EACCES')) return 'closed';
    throw error;
  }
};

/** Throws `unsafe_path` if the path from `root` leads through a link, and thus out of the workspace. */
export const assertNoLinks = (root: string, dir: string): void => {
  const link = linkOnTheWay(root, dir);
  if (link !== undefined) throw linked(relative(root, link));
};

const linked = (name: string): StoreError =>
  new StoreError(
    'unsafe_path',
    `${name} is a symbolic link; nothing behind it was read or written`,
  );

/** The problem of a link or a file at the path of a directory that the daemon creates. */
export const NOT_A_DIRECTORY =
  'must be a directory, not a link or a file. Move it away: the daemon creates the directory';

/** Throws `unsafe_path` if a directory could not be created, because a link or a file is in its place or on its way. */
export const assertCreatable = (root: string, dir: string): void => {
  for (let at = dir; at.length > root.length; at = dirname(at)) {
    const stats = statsAt(at);
    if (stats === undefined || stats.isDirectory()) continue;
    const name = relative(root, at);
    if (stats.isSymbolicLink()) throw linked(name);
    throw new StoreError('unsafe_path', `${name} ${NOT_A_DIRECTORY}`);
  }
};

/** The error for anything but a regular file. */
export const notRegular = (name: string): StoreError =>
  new StoreError('unsafe_path', `${name} is not a regular file; nothing was read or written`);

const linkOnTheWay = (root: string, dir: string): string | undefined => {
  for (let at = dir; at.length > root.length; at = dirname(at))
    if (statsAt(at)?.isSymbolicLink() === true) return at;
  return undefined;
};

/** Open descriptors on Linux: a name below one of them is a name in that very directory. */
export const DESCRIPTORS = '/proc/self/fd';
export const hasDescriptors = process.platform === 'linux' && existsSync(DESCRIPTORS);

/** Whether an open file is at that path, reached without a link; false on systems that cannot tell. */
export const isOpenAt = (descriptor: number, path: string): boolean =>
  hasDescriptors && readlinkSync(`${DESCRIPTORS}/${descriptor}`) === path;
