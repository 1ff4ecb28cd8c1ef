import { existsSync } from 'node:fs';
import { copyFile, lstat, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitAt, GitWorktree } from './git.ts';
import { inTemporary } from './temporary.ts';

/** git in a worktree with a private copy of its index; takes no lock in the repository. */
type OnCopy = GitAt<GitWorktree>;

/**
 * Runs `work` with a temporary copy of the worktree's index, which git may change. In the copy, files marked
 * assume-unchanged, and files marked skip-worktree that exist, are unmarked. `stages`: the output of
 * `ls-files --stage -v -z`.
 */
export const onIndexCopy = <T>(
  git: GitAt<GitWorktree>,
  stages: Buffer,
  work: (copy: OnCopy) => Promise<T>,
): Promise<T> =>
  onTemporary(
    git,
    (path) => copyIndex(join(git.place.git_dir, 'index'), path),
    async (copy) => {
      await lookAtAll(copy, linesOf(stages));
      return work(copy);
    },
  );

// Drops mode, object and stage, which end with a tab. `H` lines are ordinary tracked files, often thousands.
const linesOf = (stages: Buffer): string[] =>
  stages
    .toString('latin1')
    .split('\0')
    .filter((line) => !line.startsWith('H '))
    .map((line) => `${line.slice(0, 2)}${line.slice(line.indexOf('\t') + 1)}`);

/** Runs `work` with a temporary index of these bytes. */
export const onIndexFile = <T>(
  git: GitAt<GitWorktree>,
  bytes: Buffer,
  work: (copy: OnCopy) => Promise<T>,
): Promise<T> => onTemporary(git, (path) => writeFile(path, bytes), work);

const onTemporary = <T>(
  git: GitAt<GitWorktree>,
  put: (path: string) => Promise<void>,
  work: (copy: OnCopy) => Promise<T>,
): Promise<T> =>
  inTemporary('index', async (directory) => {
    const copy = join(directory, 'index');
    await put(copy);
    return work(git.with({ read: true, env: { GIT_INDEX_FILE: copy } }));
  });

// git compares file times with the index's own time to find files that changed within one clock tick. A newer copy would miss
// changes; an older one only costs another look.
const copyIndex = async (index: string, copy: string): Promise<void> => {
  if (!existsSync(index)) return;
  const { mtimeMs } = await stat(index);
  await copyFile(index, copy);
  const older = Math.floor(mtimeMs) / 1000 - 0.01;
  await utimes(copy, older, older);
};

/** Whether files are marked assume-unchanged or skip-worktree, so that git does not look at them. */
export const hasMarked = (stages: Buffer): boolean => linesOf(stages).some(isMarked);

const isMarked = (line: string): boolean => /^[a-zS] /.test(line);

const lookAtAll = async (copy: OnCopy, listed: readonly string[]): Promise<void> => {
  const flagged = listed.filter(isMarked);
  const hidden = await Promise.all(flagged.map((line) => isHidden(copy.place, line)));
  const paths = flagged.filter((_, at) => hidden[at]).map((line) => line.slice(2));
  if (paths.length === 0) return;
  const input = nulls(paths);
  await copy.run(['update-index', '--no-assume-unchanged', '-z', '--stdin'], { input });
  await copy.run(['update-index', '--no-skip-worktree', '-z', '--stdin'], { input });
};

// A missing skip-worktree file (S) is normal; a missing assume-unchanged file was deleted.
const isHidden = async (worktree: GitWorktree, line: string): Promise<boolean> => {
  if (!/^s/i.test(line)) return true;
  const found = await lstat(onDisk(worktree, line.slice(2))).catch(() => undefined);
  return found !== undefined;
};

/** The absolute path, as bytes, of a file whose name was read as latin1. */
export const onDisk = (worktree: Pick<GitWorktree, 'path'>, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${worktree.path}/`), Buffer.from(path, 'latin1')]);

/** The most that git may print as a list of files, in bytes. */
export const MOST_LISTED = 1024 ** 3;

/** Arguments that make a command read NUL-terminated paths from standard input. */
export const FROM_INPUT = ['--pathspec-from-file=-', '--pathspec-file-nul'];

/** Names that were read as latin1, encoded for git's standard input with `-z`. */
export const nulls = (lines: readonly string[]): Buffer =>
  Buffer.from(lines.map((line) => `${line}\0`).join(''), 'latin1');
