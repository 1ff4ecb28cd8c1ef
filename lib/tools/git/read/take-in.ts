import { lstatSync, type Stats } from 'node:fs';
import { inSlices } from '../../../../store/base/async.ts';
import { orElse } from '../../../../store/base/attempt.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { FROM_INPUT, MOST_LISTED, nulls, onDisk } from '../run/index-copy.ts';
import { lossyPath, pathText } from '../run/path-text.ts';
import { MOST_SHOWN, sizeOf, takeOutLargeFiles } from './large-files.ts';
import { refusedOf } from './refused-names.ts';
import { isWithheld } from './secret-names.ts';

/** Files as `git status` lists them, names read as latin1. A nested repository ends with a slash. */
export interface Changed {
  /** Not in HEAD. */
  fresh: readonly string[];
  untracked: readonly string[];
  /** Tracked files with changes. */
  tracked: readonly string[];
  unmerged: readonly string[];
}

/**
 * Prepares a copy of the index for a diff with a commit: adds untracked files as empty ones and unmerged ones with their current
 * content, and takes out large ones. Returns the paths that are left out, and those whose names git refuses.
 */
export const takeIn = async (
  git: GitAt<GitWorktree>,
  commit: string,
  { untracked, tracked, unmerged }: Changed,
  special: SpecialFiles,
): Promise<{ left: string[]; refused: string[] }> => {
  const [left, added]: [string[], string[]] = [[], []];
  const lines: string[] = [];
  await inSlices(untracked, (path) => {
    const mode = modeOf(git.place, path);
    (mode === undefined ? left : added).push(path);
    if (mode !== undefined) lines.push(`${mode} ${emptyBlobLike(commit)} 0\t${path}`);
  });
  const known = new Set(untracked);
  left.push(...(await droppedFromIndex(git, commit)).filter((path) => !known.has(path)));
  const large: string[] = [];
  await inSlices(tracked, (path) => {
    if (sizeOf(git.place, path) > MOST_SHOWN) large.push(path);
  });
  await takeOutLargeFiles(git, commit, large);
  // Not `git add`, which compares each path with each of the others.
  const args = ['update-index', '--add', '--replace', '-z', '--index-info'];
  const refused =
    added.length === 0 ? [] : refusedOf(await git.run(args, { input: nulls(lines) }), added);
  const isSkipped = (path: string): boolean => special.has(pathText(path)) || large.includes(path);
  const conflicted = unmerged.filter((path) => !isSkipped(path));
  if (conflicted.length > 0)
    await git.run(['add', '--sparse', '--all', ...FROM_INPUT], { input: nulls(conflicted) });
  return { left: [...large, ...left], refused };
};

// Files of the commit that are on disk and no longer in the index. git shows an ignored one as deleted, whatever it contains.
const droppedFromIndex = async (git: GitAt<GitWorktree>, commit: string): Promise<string[]> => {
  const args = ['diff-index', '--cached', '--no-renames', '--diff-filter=D', '--name-only', '-z'];
  const gone = await git.names([...args, commit, '--'], { max_bytes: MOST_LISTED });
  return gone.filter((path) => {
    const found = orElse(() => lstatSync(onDisk(git.place, path)), undefined);
    return found?.isFile() === true || found?.isSymbolicLink() === true;
  });
};

// git compares with the file itself, because its size and time are unknown. Every repository has this object.
const emptyBlobLike = (commit: string): string =>
  /^[0-9a-f]{64}\b/.test(commit)
    ? '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813'
    : 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

// Some names git refuses only for links. Undefined if the file is left out.
const modeOf = (worktree: GitWorktree, path: string): string | undefined => {
  if (path.endsWith('/')) return undefined;
  const found = orElse(() => lstatSync(onDisk(worktree, path)), undefined);
  if (found !== undefined && found.size > MOST_SHOWN) return undefined;
  return found?.isSymbolicLink() ? '120000' : '100644';
};

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
  const paths = await git.names(['ls-files', '-z', '--cached'], { max_bytes: MOST_LISTED });
  return new Map(
    [...new Set(paths)].flatMap((path) => {
      const found = orElse(() => lstatSync(onDisk(git.place, path)), undefined);
      const kind = found === undefined ? undefined : specialKind(found);
      return kind === undefined ? [] : [[path, kind] as const];
    }),
  );
};

const specialKind = (found: Stats): SpecialKind | undefined => {
  if (found.isFIFO()) return 'named pipe';
  if (found.isSocket()) return 'socket';
  return found.isBlockDevice() || found.isCharacterDevice() ? 'device' : undefined;
};

/**
 * Removes new files that are named like secrets (`isWithheld`), or are among `copied`, from a copy of the index, and returns
 * them. A file of the base is changed or deleted, not new, also where HEAD no longer has it.
 */
export const takeOutWithheld = async (
  copy: GitAt<GitWorktree>,
  commit: string,
  { fresh, copied }: Pick<Changed, 'fresh'> & { copied: readonly string[] },
): Promise<string[]> => {
  const own = new Set(copied);
  const named = fresh.filter((path) => isWithheld(path) || own.has(lossyPath(path)));
  if (named.length === 0) return [];
  const args = ['ls-tree', '-r', '-z', '--full-tree', '--name-only', commit];
  const before = new Set(await copy.names(args, { max_bytes: MOST_LISTED }));
  const withheld = named.filter((path) => !before.has(path));
  const input = nulls(withheld);
  await copy.run(['update-index', '--force-remove', '-z', '--stdin'], { input });
  return withheld;
};
