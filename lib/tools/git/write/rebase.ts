import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { killRun, processesOf } from '../../process/process-tree.ts';
import { RUN_VARIABLE } from '../../process/processes.ts';
import { WRITTEN, type WrittenPath, writtenIn } from '../read/in-the-way.ts';
import { headCommit } from '../read/repository.ts';
import { isRebasing } from '../read/status.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { MOST_LISTED } from '../run/index-copy.ts';
import { committer } from './commit.ts';

/** A rebase in progress in a worktree, as git records it. */
export interface RebaseState {
  /** The full name of the rebased ref. */
  branch: string;
  onto: string;
  orig_head: string;
  stop: Stop;
}

/** Where the rebase stopped: HEAD, the commit that does not apply, and its number. */
export interface Stop {
  head: string;
  commit: string | null;
  number: number;
  count: number;
}

/** The rebase in progress, or undefined. For `rebase-apply` or an incomplete record the fields are empty. */
export const rebaseState = async (git: GitAt<GitWorktree>): Promise<RebaseState | undefined> => {
  const { git_dir } = git.place;
  if (!isRebasing(git.place)) return undefined;
  const read = async (name: string): Promise<string> =>
    (await readFile(join(git_dir, 'rebase-merge', name), 'utf8').catch(() => '')).trim();
  return {
    branch: await read('head-name'),
    onto: await read('onto'),
    orig_head: await read('orig-head'),
    stop: {
      head: (await headCommit(git)) ?? '',
      commit: (await read('stopped-sha')) || null,
      number: Number(await read('msgnum')),
      count: Number(await read('end')),
    },
  };
};

interface NewRebase {
  /** The run mark of its processes, so that a restarted daemon finds those that still run. */
  marker: string;
  /** The new base. */
  onto: string;
  /** Commits of HEAD that are not in `upstream` are rebased. */
  upstream: string;
}

/** The result of a rebase command. After a conflict `done` is false: check for unmerged files. */
export interface RebaseAnswer {
  done: boolean;
  said: string;
}

/** Rebases the current branch. Runs no hook or editor and signs nothing; drops commits that become empty. */
export const rebase = (
  git: GitAt<GitWorktree>,
  { onto, upstream, marker }: NewRebase,
): Promise<RebaseAnswer> => runRebase(git, marker, [...PLAIN, '--onto', onto, upstream]);

const PLAIN = [
  '--merge',
  '--empty=drop',
  '--no-autosquash',
  '--no-autostash',
  '--no-fork-point',
  '--no-rebase-merges',
  '--no-gpg-sign',
  '--no-stat',
  '--no-verify',
];

/** Commits the staged changes and continues the rebase. */
export const continueRebase = (git: GitAt<GitWorktree>, marker: string): Promise<RebaseAnswer> =>
  runRebase(git, marker, ['--continue']);

const runRebase = async (
  git: GitAt<GitWorktree>,
  marker: string,
  args: readonly string[],
): Promise<RebaseAnswer> => {
  const env = { ...(await committer(git)), [RUN_VARIABLE]: marker };
  const options = { ok: [0, 1, 128], env };
  const { code, stderr } = await git.run(['rebase', ...args], options);
  return { done: code === 0, said: stderr };
};

const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 50;

/** Waits up to 10 s for git processes of a rebase that a previous daemon started, then kills them. A killed git leaves locks. */
export const awaitRebase = async (marker: string): Promise<void> => {
  const end = performance.now() + PATIENCE_MS;
  while ((await processesOf(marker)).length > 0) {
    if (performance.now() > end) {
      await killRun(marker);
      return;
    }
    await delay(LOOK_AGAIN_MS);
  }
};

/** The paths that the rebase writes and HEAD does not have, or has as another type, read as latin1. */
export const pathsToWrite = async (
  git: GitAt<GitWorktree>,
  { onto, upstream }: Pick<NewRebase, 'onto' | 'upstream'>,
): Promise<WrittenPath[]> => {
  const [added, made] = await Promise.all([
    git.names(['diff-tree', ...WRITTEN, 'HEAD', onto, '--'], { max_bytes: MOST_LISTED }),
    git.names(['log', '--format=', ...WRITTEN, `${upstream}..HEAD`, '--'], {
      max_bytes: MOST_LISTED,
    }),
  ]);
  return [...writtenIn(added), ...writtenIn(made)];
};

/**
 * The files that merge commits of the rebased ones changed themselves, as to resolve a conflict, read as latin1. A rebase
 * leaves merge commits out, and these changes with them. Undefined if git cannot tell, as in a partial clone.
 */
export const changedInMerges = async (
  git: GitAt<GitWorktree>,
  upstream: string,
): Promise<string[] | undefined> => {
  const found = new Set<string>();
  for (const merges of [OF_TWO, OF_MORE]) {
    const args = ['log', ...merges, '--format=', '--name-only', '-z', '--no-renames'];
    const options = { ok: [0, 128], max_bytes: MOST_LISTED, read: true };
    const { code, stdout } = await git.run([...args, `${upstream}..HEAD`, '--'], options);
    if (code !== 0) return undefined;
    for (const path of stdout.toString('latin1').split('\0')) if (path !== '') found.add(path);
  }
  return [...found].toSorted();
};

// git merges two parents again to compare, and more parents only with the result.
const OF_TWO = ['--min-parents=2', '--max-parents=2', '--diff-merges=remerge'];
const OF_MORE = ['--min-parents=3', '--diff-merges=combined'];
