import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Worktree } from './git.ts';

/** What whoever works in a worktree may write of its repository, and what of it must be seen but stays as it is. */
export interface SharedPlaces {
  writable: string[];
  kept: string[];
}

/**
 * Enough to commit on a branch, tag, stash and rebase in the worktree. The repository's settings and hooks, its other
 * worktrees, its submodules and the operator's own HEAD and index stay as they are: git runs what some of them name.
 */
export const sharedPlaces = ({ git_dir, common_dir }: Worktree): SharedPlaces => {
  if (git_dir === common_dir)
    return { writable: [common_dir], kept: NAMING_PROGRAMS.map((name) => join(common_dir, name)) };
  // git makes it at the first branch it notes anything of, which a repository of this worktree alone may not have had.
  mkdirSync(join(common_dir, 'logs'), { recursive: true });
  const shared = SHARED.map((name) => join(common_dir, name)).filter((path) => existsSync(path));
  return { writable: [...shared, git_dir], kept: [common_dir] };
};

const SHARED = ['objects', 'refs', 'reftable', 'logs', 'rr-cache', 'lfs'];
const NAMING_PROGRAMS = ['hooks', 'config', 'config.worktree', 'modules', 'worktrees'];
