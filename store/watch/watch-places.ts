import { existsSync } from 'node:fs';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { parentsOf } from '../base/paths.ts';
import { headDirOf } from '../fs/git-dir.ts';
import { directoryIdentity, statsAt } from '../fs/plain-path.ts';
import { SESSION_FILE } from '../layout.ts';
import { createPlainWatches, type WatchListener } from './plain-watches.ts';
import type { PlaceKind, WatchEvents, WatchTask } from './watch.ts';

/**
 * Watches the top of a workspace, the given Work items, the first `most` with chokidar, and the folders that they are in. `place`
 * adds further places.
 */
export const watchPlaces = ({ root, items, most }: WatchTask, { hint, failed }: WatchEvents) => {
  const tell = (path: string): void => hint(relative(root, path).split(sep).join(posix.sep));
  const chokidar = chokidarWatches(root, items.slice(0, most), { tell, failed });
  const watchPlain = createPlainWatches({ tell, failed });
  for (const dir of new Set(items.flatMap(parentsOf))) watchPlain.begin(join(root, dir));
  for (const dir of items.slice(most))
    directoriesOf(join(root, dir)).map((path) => watchPlain.begin(path));
  // In a linked worktree, a submodule or a subdirectory of a repository, HEAD and the index are elsewhere.
  const git = headDirOf({ root });
  if (git !== undefined && git !== join(root, '.git')) watchPlain.begin(git);
  return {
    ready: chokidar.ready,
    /** Watches a place, if it is not watched or its directory was replaced. */
    place: (dir: string, kind: PlaceKind) => {
      const path = join(root, dir);
      if (kind === 'none') return watchPlain.end(path);
      if (kind === 'item' && (chokidar.items.has(dir) || chokidar.items.size < most))
        return chokidar.place(dir);
      const wanted = kind === 'item' ? directoriesOf(path) : [path];
      // Changes from before the watch was set up.
      if (wanted.map((each) => watchPlain.begin(each, ONLY[kind])).includes(true)) hint(dir);
    },
  };
};

const ONLY: Partial<Record<PlaceKind, string>> = { record: SESSION_FILE };

// Memory and the files inside sessions cause no events, and watches are limited.
const INSIDE = ['proof', 'sessions', 'webhooks'];

const partsOf = (path: string): string[] => INSIDE.map((name) => join(path, name));

const directoriesOf = (path: string): string[] => [path, ...partsOf(path)];

const SETTLED_MS = 300;

const chokidarWatches = (root: string, first: readonly string[], listener: WatchListener) => {
  const items = new Map<string, string>();
  const inside = new Map<string, string>();
  for (const dir of first) {
    changeAt(items, join(root, dir), dir);
    for (const part of partsOf(join(root, dir))) changeAt(inside, part);
  }
  const chokidar = watchItems(root, items, listener);
  return {
    items: items as ReadonlyMap<string, string>,
    ready: whenReady(chokidar),
    place: (dir: string): void => {
      const path = join(root, dir);
      // chokidar does not notice that a directory was replaced.
      const remade = partsOf(path).filter((part) => changeAt(inside, part));
      if (changeAt(items, path, dir)) remade.push(path);
      if (remade.length === 0) return;
      chokidar.unwatch(remade);
      chokidar.add(remade);
      // chokidar misses entries created between its reading and its watching of a directory.
      setTimeout(() => {
        listener.tell(path);
        chokidar.add(partsOf(path).filter((part) => existsSync(part)));
      }, SETTLED_MS).unref();
    },
  };
};

/** True if there is a directory, and it is another one than at the last call. */
const changeAt = (known: Map<string, string>, path: string, key = path): boolean => {
  const mark = directoryIdentity(statsAt(path));
  if (mark === '') known.delete(key);
  if (mark === '' || mark === known.get(key)) return false;
  known.set(key, mark);
  return true;
};

const watchItems = (
  root: string,
  items: ReadonlyMap<string, string>,
  { tell, failed }: WatchListener,
): FSWatcher =>
  watch([root, ...[...items.keys()].map((dir) => join(root, dir))], {
    ignoreInitial: true,
    atomic: false,
    followSymlinks: false,
    ignored: (path, stats) => stats?.isFile() === true || !isWatched(relative(root, path), items),
  })
    // With the name of the entry, the directory need not be read.
    .on('raw', (_event, name, details) => tell(join(watchedOf(details) ?? root, name ?? '')))
    .on('addDir', (path) => {
      tell(path);
      // chokidar reports a new directory before it watches it, and misses files saved in between.
      setTimeout(() => tell(path), SETTLED_MS).unref();
    })
    .on('unlinkDir', tell)
    .on('error', failed);

const TOP = new Set(['', '.git', 'memory', 'memory/snapshots', 'webhooks', 'imports']);

const isWatched = (path: string, items: ReadonlyMap<string, string>): boolean =>
  TOP.has(path) || items.has(path) || (INSIDE.includes(basename(path)) && items.has(dirname(path)));

const watchedOf = (details: unknown): string | undefined =>
  (details as { watchedPath?: string }).watchedPath;

const whenReady = (watcher: FSWatcher): Promise<void> =>
  new Promise((resolve) => {
    watcher.once('ready', resolve);
  });
