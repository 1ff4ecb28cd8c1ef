import { existsSync } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { killRun, processesOf } from '../../process/process-tree.ts';
import { RUN_VARIABLE } from '../../process/processes.ts';
import { headCommit } from '../read/repository.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { onDisk } from '../run/index-copy.ts';
import { committer } from './commit.ts';

/** A rebase that is under way in a worktree, as git keeps it. */
export interface RebaseState {
  /** The full ref that is rebased. */
  branch: string;
  onto: string;
  orig_head: string;
  stop: Stop;
}

/** Where git stopped: HEAD, the commit that it could not apply, and which one it is of how many. */
export interface Stop {
  head: string;
  commit: string | null;
  number: number;
  count: number;
}

/** The rebase under way, or undefined. One of the old kind (`rebase-apply`), or half made, has empty fields. */
export const rebaseState = async (git: GitAt<GitWorktree>): Promise<RebaseState | undefined> => {
  const { git_dir } = git.place;
  if (!['rebase-merge', 'rebase-apply'].some((name) => existsSync(join(git_dir, name)))) return;
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

interface RebaseRun {
  /** Every process of it carries this, so that a later life of the daemon finds one that still runs. */
  marker: string;
}

interface NewRebase extends RebaseRun {
  /** What the commits are put onto. */
  onto: string;
  /** The commits that only HEAD has, and not this one, are taken. */
  upstream: string;
}

/** What git said. A conflict is an answer, too: look at what is unmerged. */
export interface RebaseAnswer {
  done: boolean;
  said: string;
}

/** Rebases the branch that is checked out. No hook, editor or signature; a commit that becomes empty is left out. */
export const rebase = (
  git: GitAt<GitWorktree>,
  { onto, upstream, marker }: NewRebase,
): Promise<RebaseAnswer> => runRebase(git, { marker }, [...PLAIN, '--onto', onto, upstream]);

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

/** Commits what is staged, and goes on with the commits that are left. */
export const continueRebase = (git: GitAt<GitWorktree>, run: RebaseRun): Promise<RebaseAnswer> =>
  runRebase(git, run, ['--continue']);

const runRebase = async (
  git: GitAt<GitWorktree>,
  { marker }: RebaseRun,
  args: readonly string[],
): Promise<RebaseAnswer> => {
  const env = { ...(await committer(git)), [RUN_VARIABLE]: marker };
  const options = { ok: [0, 1, 128], env };
  const { code, stderr } = await git.run(['rebase', ...args], options);
  return { done: code === 0, said: stderr };
};

const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 50;

/** Waits until no git of a rebase that a former daemon began is at work: one that is killed leaves its locks behind. */
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

/**
 * The files on disk, ignored ones too, that git would have to write over: it is told of untracked files at best, and an
 * ignored one it overwrites without a word.
 */
export const filesInTheWay = async (
  git: GitAt<GitWorktree>,
  { onto, upstream }: Pick<NewRebase, 'onto' | 'upstream'>,
): Promise<string[]> => {
  const names = ['--name-only', '--diff-filter=A', '-z', '--no-renames'];
  const lists = [
    ['diff-tree', '-r', ...names, 'HEAD', onto],
    ['log', '--format=', ...names, `${upstream}..HEAD`],
    ['ls-files', '-z'],
  ];
  const [added = [], made = [], known = []] = await Promise.all(
    lists.map((args) => git.names(args)),
  );
  const tracked = new Set(known);
  const found: string[] = [];
  for (const path of new Set([...added, ...made]))
    if (!tracked.has(path) && (await isFileThere(git.place, path))) found.push(path);
  return found.map((path) => Buffer.from(path, 'latin1').toString('utf8'));
};

// A directory there holds files that git tracks, or others, which it refuses to remove.
const isFileThere = async (worktree: GitWorktree, path: string): Promise<boolean> => {
  const stats = await lstat(onDisk(worktree, path)).catch(() => undefined);
  return stats !== undefined && !stats.isDirectory();
};
