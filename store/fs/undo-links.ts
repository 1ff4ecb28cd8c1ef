import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import type { Layout } from '../layout.ts';
import { isUndoName } from './place.ts';
import { statsAt } from './plain-path.ts';
import { syncDirectory, writeSynced } from './synced.ts';

/** The number of names a file has in `.dossier/undo`: an interrupted or failed write leaves one. */
export const undoLinksTo = (layout: Layout, { dev, ino }: Stats): number =>
  keptFiles(layout).filter(({ stats }) => stats.ino === ino && stats.dev === dev).length;

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
