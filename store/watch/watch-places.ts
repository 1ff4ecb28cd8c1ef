import { existsSync } from 'node:fs';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { headDirOf } from '../fs/git-dir.ts';
import { statsAt } from '../fs/plain-path.ts';
import { markOf } from './directory-identity.ts';
import { type Ears, plainWatches } from './plain-watches.ts';
import type { PlaceKind, WatchEvents, WatchTask } from './watch.ts';

/**
 * Watches the top of a workspace and the Work items given; further places as they are told. The first `most` Work items
 * are chokidar's.
 */
export const watchPlaces = ({ root, items, most }: WatchTask, { hint, failed }: WatchEvents) => {
  const tell = (path: string): void => hint(relative(root, path).split(sep).join(posix.sep));
  const chokidar = chokidarWatches(root, items.slice(0, most), { tell, failed });
  const watchPlain = plainWatches({ tell, failed });
  for (const dir of items.slice(most)) directoriesOf(join(root, dir)).map(watchPlain.begin);
  // In a linked worktree, a submodule or a part of a larger repository HEAD and the index are elsewhere.
  const git = headDirOf({ root });
  if (git !== undefined && git !== join(root, '.git')) watchPlain.begin(git);
  return {
    ready: chokidar.ready,
    /** Watches a place that is not watched yet, and anew one where another directory stands now. */
    place: (dir: string, kind: PlaceKind) => {
      const path = join(root, dir);
      if (kind === 'none') return watchPlain.end(path);
      if (kind === 'item' && (chokidar.items.has(dir) || chokidar.items.size < most))
        return chokidar.place(dir);
      const wanted = kind === 'item' ? directoriesOf(path) : [path];
      // What happened before the watch stood.
      if (wanted.map(watchPlain.begin).includes(true)) hint(dir);
    },
  };
};

// Memory and what is inside sessions make no events: watches are a limited good.
const INSIDE = ['proof', 'sessions', 'webhooks'];

const partsOf = (path: string): string[] => INSIDE.map((name) => join(path, name));

const directoriesOf = (path: string): string[] => [path, ...partsOf(path)];

const SETTLED_MS = 300;

const chokidarWatches = (root: string, first: readonly string[], ears: Ears) => {
  const items = new Map<string, string>();
  const inside = new Map<string, string>();
  for (const dir of first) {
    changeAt(items, join(root, dir), dir);
    for (const part of partsOf(join(root, dir))) changeAt(inside, part);
  }
  const chokidar = watchItems(root, items, ears);
  return {
    items: items as ReadonlyMap<string, string>,
    ready: whenReady(chokidar),
    place: (dir: string): void => {
      const path = join(root, dir);
      // chokidar does not see that another directory took the place of one.
      const remade = partsOf(path).filter((part) => changeAt(inside, part));
      if (changeAt(items, path, dir)) remade.push(path);
      if (remade.length === 0) return;
      chokidar.unwatch(remade);
      chokidar.add(remade);
      // What happened before the watch stood: chokidar overlooks for good what is made between its reading and its
      // watching.
      setTimeout(() => {
        ears.tell(path);
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

const TOP = new Set(['', '.git', 'memory', 'memory/snapshots', 'webhooks', 'imports']);

const isWatched = (path: string, items: ReadonlyMap<string, string>): boolean =>
  TOP.has(path) || items.has(path) || (INSIDE.includes(basename(path)) && items.has(dirname(path)));

const watchedOf = (details: unknown): string | undefined =>
  (details as { watchedPath?: string }).watchedPath;

const whenReady = (watcher: FSWatcher): Promise<void> =>
  new Promise((resolve) => {
    watcher.once('ready', resolve);
  });
