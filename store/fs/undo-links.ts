import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import type { Layout } from '../layout.ts';
import { isUndoName } from './placing.ts';
import { statsAt } from './plain-path.ts';
import { syncDirectory, writeSynced } from './synced.ts';

/** How many names a file has in `.dossier/undo`: a write to it that was interrupted or failed leaves one. */
export const undoLinksTo = (layout: Layout, { dev, ino }: Stats): number =>
  keptFiles(layout).filter(({ stats }) => stats.ino === ino && stats.dev === dev).length;

/** The kept files with another name, relative to `.dossier/undo`: what is written by that name changes what is kept. */
export const linkedInUndo = (layout: Layout): string[] =>
  keptFiles(layout)
    .filter(({ stats }) => stats.isFile() && stats.nlink > 1)
    .map(({ path }) => path);

/** Makes a kept file one of its own, with the same bytes and mode. */
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
