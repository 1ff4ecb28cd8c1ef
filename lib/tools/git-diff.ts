import { devNull } from 'node:os';
import { ServiceError } from '../errors.ts';
import type { Runner, Worktree } from './git.ts';
import { nulls, onIndexCopy, type RunOnCopy } from './git-index.ts';
import { commitOf } from './git-repository.ts';

export interface DiffSummary {
  files: number;
  additions: number;
  deletions: number;
}

export interface Diff {
  /** A patch that `git apply` takes. Bytes: the files decide what encoding its lines have. */
  patch: Buffer;
  summary: DiffSummary;
}

/**
 * What the worktree holds now against the commit `base`: committed, staged, unstaged and untracked alike, but not
 * ignored files. Changes nothing, not even the index.
 */
export const diff = async (git: Runner, worktree: Worktree, base: string): Promise<Diff> => {
  const commit = await commitOf(git, worktree, base);
  if (commit === undefined) {
    throw new ServiceError(
      'git_failed',
      `The repository no longer has the commit ${base} to compare with.`,
    );
  }
  return onIndexCopy(git, worktree, async (run) => {
    await takeIn(run);
    return parseDiff(
      await run(['diff', ...PATCH, '--numstat', '--find-renames', `-O${devNull}`, commit, '--']),
    );
  });
};

/** How every patch is written, whatever the user's settings for reading diffs are; no driver is run. */
export const PATCH = [
  '--patch',
  '--binary',
  '--full-index',
  '--unified=3',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--no-relative',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--submodule=short',
  '--ignore-submodules=dirty',
];

// Untracked files are made known without their content; unmerged ones count as what they hold now.
const takeIn = async (run: RunOnCopy): Promise<void> => {
  const untracked = list(await run(['ls-files', '--others', '--exclude-standard', '-z']));
  const unmerged = list(await run(['ls-files', '--unmerged', '-z'])).map(pathOfStage);
  await add(
    run,
    ['--intent-to-add'],
    untracked.filter((path) => !path.endsWith('/')),
  );
  await add(run, ['--all'], [...new Set(unmerged)]);
};

const add = async (
  run: RunOnCopy,
  how: readonly string[],
  paths: readonly string[],
): Promise<void> => {
  if (paths.length === 0) return;
  await run(['add', '--sparse', ...how, '--pathspec-from-file=-', '--pathspec-file-nul'], {
    input: nulls(paths),
  });
};

const list = (output: Buffer): string[] => output.toString('latin1').split('\0').filter(Boolean);

const pathOfStage = (line: string): string => line.slice(line.indexOf('\t') + 1);

// The numbers come first, a line a file, then an empty line and the patch.
const parseDiff = (output: Buffer): Diff => {
  const end = output.indexOf('\n\n');
  if (end < 0) return { patch: Buffer.alloc(0), summary: { files: 0, additions: 0, deletions: 0 } };
  const counts = output.subarray(0, end).toString('latin1').split('\n').map(parseCounts);
  const sum = (at: 0 | 1): number => counts.reduce((total, count) => total + count[at], 0);
  return {
    patch: output.subarray(end + 2),
    summary: { files: counts.length, additions: sum(0), deletions: sum(1) },
  };
};

// A binary file has dashes for numbers.
const parseCounts = (line: string): [number, number] => {
  const [additions, deletions] = line.split('\t', 2);
  return [Number(additions) || 0, Number(deletions) || 0];
};
