import { lstatSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { hasCode } from './durable.ts';
import type { Layout } from './layout.ts';

/**
 * Paths at which something happened, relative to the workspace. A hint is never the truth: it only says where to look. chokidar watches directories, not files; every watcher on Linux drops events in a burst and none says so.
 */
export interface Watcher {
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

export interface WatchEvents {
  hint: (dir: string) => void;
  /** Events may have been lost, or there are no watches left. */
  failed: (error: unknown) => void;
}

/** Watches the directories of a workspace that hold what events are made of. */
export const watchWorkspace = (layout: Layout, { hint, failed }: WatchEvents): Watcher => {
  const { root } = layout;
  const watcher = watch(root, {
    ignoreInitial: true,
    atomic: false,
    followSymlinks: false,
    ignored: (path, stats) => stats?.isFile() === true || isIgnored(relative(root, path)),
  });
  const tell = (path: string): void => hint(relative(root, path).split(sep).join(posix.sep));
  watcher
    // The name of the entry spares reading a folder that holds thousands of others.
    .on('raw', (_event, name, details) => tell(join(watchedOf(details) ?? root, name ?? '')))
    .on('addDir', tell)
    .on('unlinkDir', tell)
    .on('error', failed);
  return { ready: whenReady(watcher), close: () => watcher.close() };
};

const watchedOf = (details: unknown): string | undefined =>
  (details as { watchedPath?: string }).watchedPath;

const whenReady = (watcher: FSWatcher): Promise<void> =>
  new Promise((resolve) => {
    watcher.once('ready', resolve);
  });

// Memory, sessions and what git keeps below its top make no events: watches are a limited good.
const UNWATCHED = new Set(['memory', 'imports', 'pr', 'conflicts', '.dossier']);

const isIgnored = (path: string): boolean => {
  const names = path.split(sep);
  if (path === '' || path === '.git') return false;
  if (names.at(-2) === 'sessions') return true;
  return names.some((name) => UNWATCHED.has(name) || (name.startsWith('.') && name !== ''));
};

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
