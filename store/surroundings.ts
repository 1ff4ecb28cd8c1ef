import { readFileSync, type Stats } from 'node:fs';
import { hasCode } from './durable.ts';

/**
 * Tells a directory from another at the same path, for which its watcher is deaf; empty when there is none. With its
 * birth, as file systems give the inode of what was removed to what is made next.
 */
export const markOf = (stats: Stats | undefined): string =>
  stats?.isDirectory() === true ? `${stats.ino} ${stats.birthtimeMs}` : '';

/** How to get more inotify watches, with the numbers that hold now. Undefined where there is no such limit. */
export const watchLimit = (): number | undefined => {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES')) return undefined;
    throw error;
  }
};
