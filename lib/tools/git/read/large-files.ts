import { lstatSync } from 'node:fs';
import { orElse } from '../../../../store/base/attempt.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { MOST_LISTED, nulls, onDisk } from '../run/index-copy.ts';

/** A larger file is in no diff: it would block the daemon, and a sparse file of this size costs an agent nothing. */
export const MOST_SHOWN = 1024 ** 3;

/** A file of this size is not stored: Node reads no larger one at once. */
export const MOST_STORED = 2 * 1024 ** 3;

/** The size of a file; 0 if it is missing. A latin1 path. */
export const sizeOf = (worktree: GitWorktree, path: string): number =>
  orElse(() => lstatSync(onDisk(worktree, path)).size, 0);

/** The latin1 paths of files that differ from a commit and are too large for a diff. Reads no content. */
export const largeChanges = async (copy: GitAt<GitWorktree>, commit: string): Promise<string[]> => {
  const args = ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--no-relative'];
  const paths = await copy.names([...args, '--ignore-submodules=dirty', commit, '--'], {
    max_bytes: MOST_LISTED,
  });
  return paths.filter((path) => sizeOf(copy.place, path) > MOST_SHOWN);
};

/** Makes tracked files equal the commit in a copy of the index, so that git does not read them for a diff with it. */
export const takeOutLargeFiles = async (
  copy: GitAt<GitWorktree>,
  commit: string,
  paths: readonly string[],
): Promise<void> => {
  if (paths.length === 0) return;
  const wanted = new Set(paths);
  const tree = await copy.names(['ls-tree', '-r', '-z', '--full-tree', commit], {
    max_bytes: MOST_LISTED,
  });
  const lines = tree.filter((line) => wanted.has(pathIn(line)));
  const update = async (...[args, names]: [string[], readonly string[]]): Promise<void> => {
    if (names.length > 0) await copy.run(['update-index', ...args], { input: nulls(names) });
  };
  await update(['--force-remove', '-z', '--stdin'], paths);
  await update(['-z', '--index-info'], lines);
  await update(['--assume-unchanged', '-z', '--stdin'], lines.map(pathIn));
};

const pathIn = (line: string): string => line.slice(line.indexOf('\t') + 1);
