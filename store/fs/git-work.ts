import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { orElse } from '../base/attempt.ts';
import type { Layout } from '../layout.ts';
import { findGitDir } from './git-dir.ts';
import { statsAt } from './plain-path.ts';

/** git is in the middle of changing many files: what is seen now is not what it will be. */
export const isGitBusy = (layout: Layout): boolean => {
  const dir = headDirOf(layout);
  return dir !== undefined && (isThere(dir, 'index.lock') || isReplaying(dir));
};

// From one commit to the next nothing is locked. Where it waits for the operator one of these says so.
const isReplaying = (dir: string): boolean =>
  (isThere(dir, 'rebase-merge') && !isThere(dir, 'rebase-merge/stopped-sha')) ||
  (isThere(dir, 'sequencer') &&
    !['CHERRY_PICK_HEAD', 'REVERT_HEAD'].some((name) => isThere(dir, name)));

/**
 * A rebase, or a row of cherry-picks, is under way, be it that it has stopped: git will check out more by itself, and
 * refuses where a file was changed meanwhile.
 */
export const isGitReplaying = (layout: Layout): boolean => {
  const dir = headDirOf(layout);
  return dir !== undefined && REPLAYS.some((name) => isThere(dir, name));
};

const REPLAYS = ['rebase-merge', 'rebase-apply', 'sequencer'];

/** Changes when git wrote its index or moved HEAD, and when it begins or ends to replay commits. */
export const gitMark = (layout: Layout): string => {
  const dir = headDirOf(layout);
  if (dir === undefined) return '';
  return ['HEAD', 'index', ...REPLAYS].map((name) => timeOf(dir, name)).join(' ');
};

const timeOf = (dir: string, name: string): number => statsAt(join(dir, name))?.ctimeMs ?? 0;

const PATIENCE_MS = 2000;
const LOOK_AGAIN_MS = 10;

/**
 * Resolves when git does not hold its index: what is written under its hands it may overwrite unseen. A lock that is
 * older than two seconds may have been left by a git that died, and is not waited for.
 */
export const gitIsDone = async (layout: Layout): Promise<void> => {
  const end = performance.now() + PATIENCE_MS;
  while (isFreshlyLocked(layout) && performance.now() < end) await delay(LOOK_AGAIN_MS);
};

const isFreshlyLocked = (layout: Layout): boolean => {
  const dir = headDirOf(layout);
  const lock = dir === undefined ? undefined : statsAt(join(dir, 'index.lock'));
  return lock !== undefined && Math.abs(Date.now() - lock.mtimeMs) < PATIENCE_MS;
};

const isThere = (dir: string, name: string): boolean => statsAt(join(dir, name)) !== undefined;

/** Where git keeps the index of the working files that the workspace is part of; undefined when it is in no repository. */
export const headDirOf = ({ root }: Pick<Layout, 'root'>): string | undefined =>
  // What may not be read is not ours to wait for.
  orElse(() => findGitDir(root)?.head_dir, undefined);
