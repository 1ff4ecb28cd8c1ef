import { existsSync, type FSWatcher as PlainWatcher, watch as watchPlain } from 'node:fs';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { headDirOf } from './git-work.ts';
import { statsAt } from './plain-path.ts';
import { markOf } from './surroundings.ts';
import type { PlaceKind, WatchEvents } from './watch.ts';

export interface Places {
  readonly ready: Promise<void>;
  /** Watches a place that is not watched yet, and anew one where another directory stands now. */
  place(dir: string, kind: PlaceKind): void;
}

/** Watches the top of a workspace and the Work items given; further places as they are told. */
export const watchPlaces = (
  root: string,
  items: readonly string[],
  { hint, failed }: WatchEvents,
): Places => {
  const seen = new Map(
    items.map((dir): [string, string] => [dir, markOf(statsAt(join(root, dir)))]),
  );
  const folders = new Map<string, string>();
  const inside = new Map<string, string>();
  const tell = (path: string): void => hint(relative(root, path).split(sep).join(posix.sep));
  const chokidar = watchItems(root, seen, { tell, failed });
  const watchFolder = folderWatcher({ tell, failed });
  // In a linked worktree, a submodule or a part of a larger repository HEAD and the index are elsewhere.
  const git = headDirOf({ root });
  if (git !== undefined && git !== join(root, '.git')) watchFolder(git);
  return {
    ready: whenReady(chokidar),
    place: (dir, kind) => {
      const path = join(root, dir);
      if (kind === 'folder') {
        if (!changeAt(folders, path)) return;
        watchFolder(path);
        setTimeout(() => hint(dir), SETTLED_MS).unref();
        return;
      }
      // chokidar does not see that another directory took the place of one.
      const remade = partsOf(path).filter((part) => changeAt(inside, part));
      if (changeAt(seen, path, dir)) remade.push(path);
      if (remade.length === 0) return;
      chokidar.unwatch(remade);
      chokidar.add(remade);
      // What happened before the watch stood: chokidar overlooks for good what is made between its reading and its
      // watching.
      setTimeout(() => {
        hint(dir);
        chokidar.add(partsOf(path).filter((part) => existsSync(part)));
      }, SETTLED_MS).unref();
    },
  };
};

/** True when there is a directory, and it is not the one that was there when this was asked last. */
const changeAt = (known: Map<string, string>, path: string, key = path): boolean => {
  const mark = markOf(statsAt(path));
  if (mark === '') known.delete(key);
  if (mark === '' || mark === known.get(key)) return false;
  known.set(key, mark);
  return true;
};

const SETTLED_MS = 300;

const partsOf = (path: string): string[] => [...INSIDE].map((name) => join(path, name));

interface Ears {
  tell: (path: string) => void;
  failed: (error: unknown) => void;
}

const watchItems = (
  root: string,
  items: ReadonlyMap<string, string>,
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
    .on('addDir', (path) => {
      tell(path);
      // chokidar tells of a new directory before it watches it, and never of what is saved there in between.
      setTimeout(() => tell(path), SETTLED_MS).unref();
    })
    .on('unlinkDir', tell)
    .on('error', failed);

const TOP = new Set(['', '.git', 'memory', 'memory/snapshots', 'webhooks']);
// Memory and what is inside sessions make no events: watches are a limited good.
const INSIDE = new Set(['proof', 'sessions', 'webhooks']);

const isWatched = (path: string, items: ReadonlyMap<string, string>): boolean =>
  TOP.has(path) || items.has(path) || (INSIDE.has(basename(path)) && items.has(dirname(path)));

const watchedOf = (details: unknown): string | undefined =>
  (details as { watchedPath?: string }).watchedPath;

// chokidar reads a directory again, whole, at each change in it: for a folder of thousands of Work items that would be
// more work than all the rest.
const folderWatcher = ({ tell, failed }: Ears) => {
  const watchers = new Map<string, PlainWatcher>();
  return (path: string): void => {
    watchers.get(path)?.close();
    try {
      const watcher = watchPlain(path, (_event, name) => tell(join(path, name ?? '')));
      watchers.set(path, watcher.on('error', failed));
    } catch (error) {
      failed(error);
    }
  };
};

const whenReady = (watcher: FSWatcher): Promise<void> =>
  new Promise((resolve) => {
    watcher.once('ready', resolve);
  });
