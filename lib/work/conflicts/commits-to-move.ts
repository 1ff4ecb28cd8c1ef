import { readPull, type StoredPull } from '../../../store/codehost/pulls.ts';
import type { ConflictMatter } from '../../../store/records/conflict.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { isAncestor, mergeBase } from '../../tools/git/read/repository.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';

type Move = Pick<ConflictMatter, 'orig_head' | 'onto_commit'>;

/**
 * The commit above which the branch's commits are moved. When the base changes, those of its former base stay; after a merge on
 * the host, those that were merged.
 */
export const commitsToMove = async (
  { git, store }: GitNeeds,
  worktree: WorktreeRecord,
  move: Move,
): Promise<string> => {
  const { orig_head, onto_commit } = move;
  const { base_commit, case_id } = worktree;
  const merged = await mergedBefore(git.at(worktree), readPull(store, case_id), move);
  if (merged !== undefined) return merged;
  const common = await mergeBase(git.at(worktree), orig_head, onto_commit);
  if (common === undefined || common === base_commit) return onto_commit;
  const isOlder = await isAncestor(git.at(worktree), common, base_commit);
  return isOlder && (await isAncestor(git.at(worktree), base_commit, orig_head))
    ? base_commit
    : onto_commit;
};

// A squash or rebase on the host leaves other commits in the base, with which those of the branch would conflict.
const mergedBefore = async (
  git: GitAt<GitWorktree>,
  pull: StoredPull | undefined,
  { orig_head, onto_commit }: Move,
): Promise<string | undefined> => {
  const { merge_commit, head_sha } = pull?.matter ?? {};
  if (merge_commit == null || head_sha == null) return undefined;
  if (!(await isAncestor(git, merge_commit, onto_commit))) return undefined;
  return (await isAncestor(git, head_sha, orig_head)) ? head_sha : undefined;
};
