import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { listDirectory } from '../front-matter/folder.ts';
import { undoPlace } from '../fs/place.ts';
import { writeSynced } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';

const KEEP_DAYS = 7;
const KEEP_BYTES = 268_435_456;
const DAY_MS = 86_400_000;

/** Removes files from `.dossier/undo` beyond 7 days or 256 MB, the oldest first. */
export const pruneUndo = ({ undo }: Layout, now = Date.now()): void => {
  const oldest = new Date(now - KEEP_DAYS * DAY_MS).toISOString().slice(0, 10);
  let bytes = 0;
  for (const day of readdirSync(undo).toSorted().reverse()) {
    const path = join(undo, day);
    if (day < oldest || bytes > KEEP_BYTES) rmSync(path, { recursive: true, force: true });
    else bytes = pruneDay(path, bytes);
  }
};

/** Saves a text in `.dossier/undo`, readable by its owner alone, and returns the path. */
export const saveToUndo = async (layout: Layout, name: string, text: string): Promise<string> => {
  const path = undoPlace(layout, name);
  await writeSynced(path, text, 0o600);
  return path;
};

// Files get here by a link or rename, which sets their ctime.
const pruneDay = (dir: string, before: number): number => {
  const kept = listDirectory(dir).flatMap((name) => {
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
