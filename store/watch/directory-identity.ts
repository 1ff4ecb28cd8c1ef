import type { Stats } from 'node:fs';

/**
 * Tells a directory from another at the same path, for which its watcher is deaf; empty when there is none. With its
 * birth, as file systems give the inode of what was removed to what is made next.
 */
export const markOf = (stats: Stats | undefined): string =>
  stats?.isDirectory() === true ? `${stats.ino} ${stats.birthtimeMs}` : '';
