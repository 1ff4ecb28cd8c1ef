import { lstatSync, type Stats } from 'node:fs';
import { orElse } from '../../../../store/base/attempt.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { nulls, onDisk } from '../run/index-copy.ts';
import { pathText } from '../run/path-text.ts';

export type SpecialKind = 'named pipe' | 'socket' | 'device';

/** Kinds by path, as `pathText` encodes it. */
export type SpecialFiles = ReadonlyMap<string, SpecialKind>;

/**
 * Runs `work` on a copy of the index. If it fails because tracked files were replaced by special files, which git does not
 * read, removes them from the copy and runs `work` again.
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

/** Removes tracked files that were replaced by special files from a copy of the index, and returns them. */
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
