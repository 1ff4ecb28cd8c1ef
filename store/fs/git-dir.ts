import { existsSync, readFileSync, type Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { orElse } from '../base/attempt.ts';
import type { Layout } from '../layout.ts';
import { statsAt } from './plain-path.ts';

export interface GitDir {
  /** The top of the working files. */
  top: string;
  /** The directory with HEAD and the index, which each linked worktree has of its own. */
  head_dir: string;
  gitdir: string;
}

/** The repository that contains a directory, found as git does, or undefined. Runs no program. */
export const findGitDir = (directory: string): GitDir | undefined => {
  for (let top = directory; ; top = dirname(top)) {
    const head_dir = gitDirAt(join(top, '.git'));
    if (head_dir !== undefined) return { top, head_dir, gitdir: commonDirOf(head_dir) };
    if (dirname(top) === top) return undefined;
  }
};

// In a linked worktree or a submodule, `.git` is a file with the path.
const gitDirAt = (path: string): string | undefined => {
  const stats = statsAt(path);
  if (stats === undefined) return undefined;
  if (!stats.isFile()) return existsSync(join(path, 'HEAD')) ? path : undefined;
  const target = /^gitdir: (.*)$/m.exec(readFileSync(path, 'utf8'))?.[1];
  return target === undefined ? undefined : resolve(dirname(path), target);
};

const commonDirOf = (gitdir: string): string => {
  const [common] = gitFileLines(join(gitdir, 'commondir'));
  return common === undefined ? gitdir : resolve(gitdir, common);
};

/** The lines of a small file in the git directory; empty if it does not exist. */
export const gitFileLines = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];

/** Whether a git command is changing the working files at this moment. */
export const isGitBusy = (layout: Layout): boolean => gitStall(layout) !== undefined;

/**
 * While a git command is changing the working files: how long ago it last wrote its lock, its index or HEAD, in milliseconds.
 * Undefined while none is.
 */
export const gitStall = (layout: Layout): number | undefined => {
  const dir = headDirOf(layout);
  if (dir === undefined || !(isThere(dir, 'index.lock') || isReplaying(dir))) return undefined;
  const last = Math.max(...['index.lock', ...MARKS].map((name) => timeOf(dir, name)));
  return Math.abs(Date.now() - last);
};

// Between two commits of a rebase nothing is locked. These files exist while it waits for the operator.
const isReplaying = (dir: string): boolean =>
  (isThere(dir, 'rebase-merge') && !isThere(dir, 'rebase-merge/stopped-sha')) ||
  (isThere(dir, 'sequencer') &&
    !['CHERRY_PICK_HEAD', 'REVERT_HEAD'].some((name) => isThere(dir, name)));

/**
 * Whether a rebase or a series of cherry-picks is in progress, or stopped: git will check out more files, and refuses if
 * one was changed meanwhile.
 */
export const isGitReplaying = (layout: Layout): boolean => {
  const dir = headDirOf(layout);
  return dir !== undefined && REPLAYS.some((name) => isThere(dir, name));
};

const REPLAYS = ['rebase-merge', 'rebase-apply', 'sequencer'];

/** A value that changes when git writes its index, moves HEAD, or starts or ends a rebase or sequence. */
export const gitMark = (layout: Layout): string => {
  const dir = headDirOf(layout);
  if (dir === undefined) return '';
  return MARKS.map((name) => timeOf(dir, name)).join(' ');
};

const MARKS = ['HEAD', 'index', ...REPLAYS];

const timeOf = (dir: string, name: string): number => statsIn(dir, name)?.ctimeMs ?? 0;

const PATIENCE_MS = 2000;
const LOOK_AGAIN_MS = 10;

/**
 * Resolves when git does not hold its index lock, because git may overwrite files written meanwhile. Waits up to two
 * seconds; an older lock may have been left by a git process that died.
 */
export const whenGitIdle = async (layout: Layout): Promise<void> => {
  const end = performance.now() + PATIENCE_MS;
  while (isFreshlyLocked(layout) && performance.now() < end) await delay(LOOK_AGAIN_MS);
};

const isFreshlyLocked = (layout: Layout): boolean => {
  const dir = headDirOf(layout);
  const lock = dir === undefined ? undefined : statsIn(dir, 'index.lock');
  return lock !== undefined && Math.abs(Date.now() - lock.mtimeMs) < PATIENCE_MS;
};

const isThere = (dir: string, name: string): boolean => statsIn(dir, name) !== undefined;

// A file that cannot be looked at is treated as none, like an unreadable repository.
const statsIn = (dir: string, name: string): Stats | undefined =>
  orElse(() => statsAt(join(dir, name)), undefined);

/** The directory with HEAD and the index of the repository that contains the workspace; undefined if there is none. */
export const headDirOf = ({ root }: Pick<Layout, 'root'>): string | undefined =>
  // An unreadable repository is treated as none.
  orElse(() => findGitDir(root)?.head_dir, undefined);
