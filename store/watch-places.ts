import { existsSync, type FSWatcher as PlainWatcher, watch as watchPlain } from 'node:fs';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
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
  const seen = new Map(items.map((dir): [string, string] => [dir, markOf(join(root, dir))]));
  const folders = new Map<string, string>();
  const tell = (path: string): void => hint(relative(root, path).split(sep).join(posix.sep));
  const chokidar = watchItems(root, seen, { tell, failed });
  const watchFolder = folderWatcher({ tell, failed });
  return {
    ready: whenReady(chokidar),
    place: (dir, kind) => {
      const path = join(root, dir);
      const mark = markOf(path);
      const known = kind === 'item' ? seen : folders;
      if (mark === '' || known.get(dir) === mark) return;
      const again = known.has(dir);
      known.set(dir, mark);
      if (kind === 'folder') watchFolder(path);
      else watchItem(chokidar, path, again);
      // What happened before the watch stood: chokidar overlooks for good what is made between its reading and its
      // watching.
      setTimeout(() => {
        hint(dir);
        if (kind === 'item') chokidar.add(insideOf(path));
      }, SETTLED_MS).unref();
    },
  };
};

const watchItem = (chokidar: FSWatcher, path: string, again: boolean): void => {
  if (again) chokidar.unwatch(path);
  chokidar.add(path);
};

const SETTLED_MS = 300;

const insideOf = (path: string): string[] =>
  [...INSIDE].map((name) => join(path, name)).filter((each) => existsSync(each));

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

const TOP = new Set(['', '.git', 'webhooks']);
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
