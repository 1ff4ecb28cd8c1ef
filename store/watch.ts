import {
  lstatSync,
  type FSWatcher as PlainWatcher,
  readFileSync,
  watch as watchPlain,
} from 'node:fs';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { hasCode } from './durable.ts';
import type { Layout } from './layout.ts';

/** A Work item's directory, or a folder of them. */
export type PlaceKind = 'item' | 'folder';

/**
 * Paths at which something happened, relative to the workspace. A hint is never the truth: it only says where to look.
 * Directories are watched, not files; every watcher on Linux drops events in a burst and none says so.
 */
export interface Watcher {
  readonly ready: Promise<void>;
  /** Watches a place that is not watched yet, and anew one where another directory stands now. */
  place(dir: string, kind: PlaceKind): void;
  close(): Promise<void>;
}

export interface WatchEvents {
  hint: (path: string) => void;
  /** Events may have been lost, or there are no watches left. */
  failed: (error: unknown) => void;
}

/** Watches the top of a workspace and the Work items given; further places as they are told. */
export const watchWorkspace = (
  { root }: Layout,
  items: readonly string[],
  { hint, failed }: WatchEvents,
): Watcher => {
  const inodes = new Map(items.map((dir): [string, number] => [dir, inodeOf(join(root, dir))]));
  const tell = (path: string): void => hint(relative(root, path).split(sep).join(posix.sep));
  const chokidar = watchItems(root, inodes, { tell, failed });
  const folders = watchFolders({ tell, failed });
  return {
    ready: whenReady(chokidar),
    place: (dir, kind) => {
      const path = join(root, dir);
      const inode = inodeOf(path);
      if (inode === 0 || inodes.get(dir) === inode) return;
      const known = inodes.has(dir);
      inodes.set(dir, inode);
      if (kind === 'folder') return folders.watch(path);
      if (known) chokidar.unwatch(path);
      chokidar.add(path);
      // What happened before the watch stood.
      setTimeout(() => hint(dir), SETTLED_MS).unref();
    },
    close: async () => {
      folders.close();
      await chokidar.close();
    },
  };
};

const SETTLED_MS = 300;

interface Ears {
  tell: (path: string) => void;
  failed: (error: unknown) => void;
}

const watchItems = (
  root: string,
  items: ReadonlyMap<string, number>,
  { tell, failed }: Ears,
): FSWatcher =>
  watch([root, ...[...items.keys()].map((dir) => join(root, dir))], {
    ignoreInitial: true,
    atomic: false,
    followSymlinks: false,
    ignored: (path, stats) => stats?.isFile() === true || !isWatched(relative(root, path), items),
  })
    // The name of the entry spares reading the whole directory.
    .on('raw', (_event, name, details) => tell(join(watchedOf(details) ?? root, name ?? '')))
    .on('addDir', tell)
    .on('unlinkDir', tell)
    .on('error', failed);

const TOP = new Set(['', '.git', 'webhooks']);
// Memory and what is inside sessions make no events: watches are a limited good.
const INSIDE = new Set(['proof', 'sessions', 'webhooks']);

const isWatched = (path: string, items: ReadonlyMap<string, number>): boolean =>
  TOP.has(path) || items.has(path) || (INSIDE.has(basename(path)) && items.has(dirname(path)));

const watchedOf = (details: unknown): string | undefined =>
  (details as { watchedPath?: string }).watchedPath;

// chokidar reads a directory again, whole, at each change in it: for a folder of thousands of Work items that would be
// more work than all the rest.
const watchFolders = ({ tell, failed }: Ears) => {
  const watchers = new Map<string, PlainWatcher>();
  return {
    watch: (path: string): void => {
      watchers.get(path)?.close();
      try {
        const watcher = watchPlain(path, (_event, name) => tell(join(path, name ?? '')));
        watchers.set(path, watcher.on('error', failed));
      } catch (error) {
        failed(error);
      }
    },
    close: (): void => {
      for (const watcher of watchers.values()) watcher.close();
    },
  };
};

const whenReady = (watcher: FSWatcher): Promise<void> =>
  new Promise((resolve) => {
    watcher.once('ready', resolve);
  });

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
