import { randomUUID } from 'node:crypto';
import { readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../base/attempt.ts';
import { isSameFile, statsAt } from '../plain-path.ts';
import { undoLinksTo } from '../undo.ts';
import type { Tree, TreeFolder } from './folder.ts';

/** A new name for a temporary file. */
export const hiddenName = (): string => `.dossier-${randomUUID()}.tmp`;

const HIDDEN = /^\.dossier-[0-9a-f-]{36}\.tmp$/;

/**
 * Whether every other hard link of a file is the daemon's own: an interrupted or failed write leaves one in
 * `.dossier/undo`, or a temporary one. Compares the count of links, so a link anywhere else gives false.
 */
export const hasOnlyOwnLinks = (
  { layout, git_dir }: Tree,
  folder: TreeFolder,
  stats: Stats,
): boolean => {
  const temporary = [layout.tmp, git_dir, folder.self].flatMap((dir) =>
    orElse(() => readdirSync(dir), [])
      .filter((name) => HIDDEN.test(name))
      .filter((name) => isSameFile(statsAt(join(dir, name)), stats)),
  );
  const second = linked.has(keyOf(stats)) ? 1 : 0;
  return 1 + second + temporary.length + undoLinksTo(layout, stats) === stats.nlink;
};

/** Runs work while a file that is being moved has both names. If it fails, the file keeps them until `endLink`. */
export const whileLinked = async <T>(stats: Stats, work: () => Promise<T>): Promise<T> => {
  linked.add(keyOf(stats));
  const done = await work();
  endLink(stats);
  return done;
};

/** Another link of this file is a stranger's again. */
export const endLink = (stats: Stats): void => void linked.delete(keyOf(stats));

const linked = new Set<string>();

const keyOf = ({ dev, ino }: Stats): string => `${dev} ${ino}`;
