import { whatIsAt } from '../../../../store/worktrees/worktrees.ts';
import { ServiceError } from '../../../errors.ts';
import { findRepository } from '../../../tools/git/read/repository.ts';
import type { Git } from '../../../tools/git/run/git.ts';
import {
  type AddedWorktree,
  isTampered,
  listWorktrees,
  type NewWorktree,
} from '../../../tools/git/write/worktree.ts';

/**
 * The worktree that was made for this Work item before, where only its record is lost: the daemon died between the two,
 * or `.dossier/` was deleted. Undefined when the place is free; anything else that is there is 409 `already_exists`.
 */
export const adopt = async (git: Git, planned: NewWorktree): Promise<AddedWorktree | undefined> => {
  const { path, branch } = planned;
  if (whatIsAt(path) === 'nothing') return undefined;
  const found = (await isListed(git, planned)) ? await findRepository(git, path) : undefined;
  if (found !== undefined) {
    const { common_dir } = planned.repository;
    const worktree = { path, git_dir: found.git_dir, common_dir, new_branch: false };
    if (!(await isTampered(worktree))) return worktree;
  }
  throw new ServiceError(
    'already_exists',
    `${path} is there already and is not the Work item's worktree on ${branch}. Look at what it holds, move it away, then try again.`,
  );
};

// git keeps the reason that a worktree is locked for: this one's names the Work item.
const isListed = async (
  git: Git,
  { repository, path, branch, reason }: NewWorktree,
): Promise<boolean> =>
  (await listWorktrees(git.at(repository))).some(
    (entry) => entry.path === path && entry.branch === branch && entry.locked === reason,
  );
