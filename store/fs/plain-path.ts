import { existsSync, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, relative } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';

/** What stands at a path, a link itself and not what it leads to. Undefined for nothing: also below what is a file. */
export const statsAt = (path: string): Stats | undefined =>
  orElse(() => lstatSync(path, { throwIfNoEntry: false }), undefined, 'ENOTDIR');

export const isDirectoryItself = (path: string): boolean => statsAt(path)?.isDirectory() === true;

/** Whether a directory stands there and no link on the way to it from `root`, which may be one itself. */
export const isPlainDirectory = (root: string, path: string): boolean =>
  isDirectoryItself(path) && linkOnTheWay(root, dirname(path)) === undefined;

/** Whether something stands there that is no link, with none on the way to it from `root`. */
export const isPlain = (root: string, path: string): boolean =>
  statsAt(path) !== undefined && linkOnTheWay(root, path) === undefined;

/** Whether a directory stands there, is gone, or is behind one that this user may not look into. */
export type Standing = 'there' | 'gone' | 'closed';

export const standing = (root: string, path: string): Standing =>
  orElse(() => (isPlainDirectory(root, path) ? 'there' : 'gone'), 'closed', 'EACCES');

/** Throws `unsafe_path` when the way from `root` leads through a link: what is behind it is not the workspace's. */
export const assertNoLinks = (root: string, dir: string): void => {
  const link = linkOnTheWay(root, dir);
  if (link === undefined) return;
  throw new StoreError(
    'unsafe_path',
    `${relative(root, link)} is a symbolic link; nothing behind it was read or written`,
  );
};

/** What is told of something that stands where a file should be. */
export const notRegular = (name: string): StoreError =>
  new StoreError('unsafe_path', `${name} is not a regular file; nothing was read or written`);

const linkOnTheWay = (root: string, dir: string): string | undefined => {
  for (let at = dir; at.length > root.length; at = dirname(at))
    if (statsAt(at)?.isSymbolicLink() === true) return at;
  return undefined;
};

/** Where Linux tells what is open. A name below one of these is a name in that very directory. */
export const DESCRIPTORS = '/proc/self/fd';
export const hasDescriptors = process.platform === 'linux' && existsSync(DESCRIPTORS);

/** Whether what is open is what that path leads to, through no link; false also where the system does not tell. */
export const isOpenAt = (descriptor: number, path: string): boolean =>
  hasDescriptors && readlinkSync(`${DESCRIPTORS}/${descriptor}`) === path;
