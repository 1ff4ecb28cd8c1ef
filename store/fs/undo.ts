import { randomUUID } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, type Stats } from 'node:fs';
import { join, relative } from 'node:path';
import { orElse, orElseUnlessDiskFault } from '../base/attempt.ts';
import type { Layout } from '../layout.ts';
import { isUndoName, undoPlace } from './place.ts';
import { isDirectoryItself, isSameFile, statsAt } from './plain-path.ts';
import { syncDirectory, writeSynced } from './synced.ts';

const KEEP_DAYS = 7;
const KEEP_BYTES = 268_435_456;
const DAY_MS = 86_400_000;

/**
 * Removes files from `.dossier/undo` beyond 7 days or 256 MB, the oldest first, and reports what cannot be removed: nothing
 * else needs it.
 */
export const pruneUndo = (
  { root, undo }: Layout,
  report: (error: unknown, what: string) => void,
  now = Date.now(),
): void => {
  const oldest = new Date(now - KEEP_DAYS * DAY_MS).toISOString().slice(0, 10);
  let bytes = 0;
  for (const day of readdirSync(undo).toSorted().reverse()) {
    const path = join(undo, day);
    try {
      if (day < oldest || bytes > KEEP_BYTES) rmSync(path, { recursive: true, force: true });
      else bytes = pruneDay(path, bytes);
    } catch (error) {
      report(error, `removing old files of ${relative(root, path)}`);
    }
  }
};

// Files get here by a link or rename, which sets their ctime.
const pruneDay = (dir: string, before: number): number => {
  const names = orElseUnlessDiskFault(() => (isDirectoryItself(dir) ? readdirSync(dir) : []), []);
  const kept = names.flatMap((name) => {
    const path = join(dir, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ path, size: stats.size, at: stats.ctimeMs }];
  });
  let bytes = before;
  for (const { path, size } of kept.toSorted((a, b) => b.at - a.at)) {
    bytes += size;
    if (bytes > KEEP_BYTES) rmSync(path, { recursive: true, force: true });
  }
  return bytes;
};

/** Saves a content in `.dossier/undo`, readable by its owner alone, and returns the path. */
export const saveToUndo = async (
  layout: Layout,
  name: string,
  content: Buffer | string,
): Promise<string> => {
  const path = undoPlace(layout, name);
  await writeSynced(path, content, 0o600);
  return path;
};

/** The number of names a file has in `.dossier/undo`: an interrupted or failed write leaves one. */
export const undoLinksTo = (layout: Layout, file: Stats): number =>
  keptFiles(layout).filter(({ stats }) => isSameFile(stats, file)).length;

/** Kept files that have another name too, so that a write to that name changes them; relative to `.dossier/undo`. */
export const linkedInUndo = (layout: Layout): string[] =>
  keptFiles(layout)
    .filter(({ stats }) => stats.isFile() && stats.nlink > 1)
    .map(({ path }) => path);

/** Replaces a hard-linked kept file by a copy of its own, with the same bytes and mode. */
export const unlinkKept = async ({ undo, tmp }: Layout, path: string): Promise<void> => {
  const kept = join(undo, path);
  const copy = join(tmp, randomUUID());
  await writeSynced(copy, readFileSync(kept), statsAt(kept)?.mode);
  renameSync(copy, kept);
  await syncDirectory(join(kept, '..'));
};

const keptFiles = ({ undo }: Layout): { path: string; stats: Stats }[] =>
  namesIn(undo)
    .flatMap((day) => namesIn(join(undo, day)).map((name) => ({ name, path: join(day, name) })))
    .filter(({ name }) => isUndoName(name))
    .flatMap(({ path }) => {
      const stats = statsAt(join(undo, path));
      return stats === undefined ? [] : [{ path, stats }];
    });

const namesIn = (dir: string): string[] => orElse(() => readdirSync(dir), []);
