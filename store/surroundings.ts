import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './durable.ts';
import type { Layout } from './layout.ts';

/** The inode of the workspace: when it changes, another directory took its place and the watcher is deaf. */
export const inodeOf = (path: string): number =>
  lstatSync(path, { throwIfNoEntry: false })?.ino ?? 0;

/** git is in the middle of changing many files: what is seen now is not what it will be. */
export const isGitBusy = ({ root }: Layout): boolean =>
  lstatSync(join(root, '.git', 'index.lock'), { throwIfNoEntry: false }) !== undefined;

/** Changes when git wrote its index or moved HEAD. */
export const gitMark = ({ root }: Layout): string =>
  ['HEAD', 'index']
    .map((name) => lstatSync(join(root, '.git', name), { throwIfNoEntry: false })?.mtimeMs ?? 0)
    .join(' ');

/** How to get more inotify watches, with the numbers that hold now. Undefined where there is no such limit. */
export const watchLimit = (): number | undefined => {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES')) return undefined;
    throw error;
  }
};
