import { lstatSync, type Stats } from 'node:fs';
import { orElse } from '../../../../store/base/or-else.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { nulls, onDisk } from '../run/index-copy.ts';
import { pathText } from '../run/path-text.ts';

export type SpecialKind = 'named pipe' | 'socket' | 'device';

/** By their names, as `pathText` has them. */
export type SpecialFiles = ReadonlyMap<string, SpecialKind>;

/**
 * Does work on a copy of the index that git may refuse for a tracked file that is no file any more: it reads none of
 * these. If it does, they are taken out of the copy, and the work is done again.
 */
export const pastSpecialFiles = async <T>(
  copy: GitAt<GitWorktree>,
  work: (special: SpecialFiles) => Promise<T>,
): Promise<T> => {
  try {
    return await work(new Map());
  } catch (error) {
    const special = await takeOutSpecialFiles(copy);
    if (special.size === 0) throw error;
    return work(special);
  }
};

/** Takes tracked files that are no files any more out of a copy of the index, and answers which. */
export const takeOutSpecialFiles = async (copy: GitAt<GitWorktree>): Promise<SpecialFiles> => {
  const special = await specialFiles(copy);
  const input = nulls([...special.keys()]);
  if (special.size > 0)
    await copy.run(['update-index', '--force-remove', '-z', '--stdin'], { input });
  return new Map([...special].map(([path, kind]) => [pathText(path), kind]));
};

const specialFiles = async (git: GitAt<GitWorktree>): Promise<Map<string, SpecialKind>> => {
  const paths = await git.names(['ls-files', '-z', '--cached'], { max_bytes: MOST_BYTES });
  return new Map(
    [...new Set(paths)].flatMap((path) => {
      const found = orElse(() => lstatSync(onDisk(git.place, path)), undefined);
      const kind = found === undefined ? undefined : specialKind(found);
      return kind === undefined ? [] : [[path, kind] as const];
    }),
  );
};

const MOST_BYTES = 1024 * 1024 * 1024;

const specialKind = (found: Stats): SpecialKind | undefined => {
  if (found.isFIFO()) return 'named pipe';
  if (found.isSocket()) return 'socket';
  return found.isBlockDevice() || found.isCharacterDevice() ? 'device' : undefined;
};
