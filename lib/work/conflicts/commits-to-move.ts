import { orElse } from '../../../store/base/attempt.ts';
import { readPull, type StoredPull } from '../../../store/codehost/pulls.ts';
import type { ConflictMatter } from '../../../store/records/conflict.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { isAncestor, mergeBase } from '../../tools/git/read/repository.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';

type Move = Pick<ConflictMatter, 'orig_head' | 'onto_commit'>;

interface CommitsToMove {
  /** The commit above which the branch's commits are moved. */
  upstream: string;
  /** Says which commits the rebase leaves out, and why. */
  notes: string[];
}

/**
 * The commits of a branch that a rebase moves. When the base changes, those of its former base stay; after a merge on the host,
 * those that were merged.
 */
export const commitsToMove = async (
  { git, store }: GitNeeds,
  worktree: WorktreeRecord,
  move: Move,
): Promise<CommitsToMove> => {
  const { orig_head, onto_commit } = move;
  const { base_commit, case_id } = worktree;
  const at = git.at(worktree);
  // An unreadable record is reported by other calls.
  const pull = orElse(() => readPull(store, case_id), undefined);
  const merged = await mergedBefore(at, pull, move);
  if (merged !== undefined) return merged;
  const common = await mergeBase(at, orig_head, onto_commit);
  if (common === undefined || common === base_commit) return { upstream: onto_commit, notes: [] };
  const isOlder = await isAncestor(at, common, base_commit);
  const isMoved = isOlder && (await isAncestor(at, base_commit, orig_head));
  return { upstream: isMoved ? base_commit : onto_commit, notes: [] };
};

// A squash or rebase on the host leaves other commits in the base, with which those of the branch would conflict.
const mergedBefore = async (
  git: GitAt<GitWorktree>,
  pull: StoredPull | undefined,
  { orig_head, onto_commit }: Move,
): Promise<CommitsToMove | undefined> => {
  const { merged_at, merge_commit, head_sha, number } = pull?.matter ?? {};
  if (merged_at == null || merge_commit == null || head_sha == null) return undefined;
  if (!(await isAncestor(git, merge_commit, onto_commit))) return undefined;
  if (!(await isAncestor(git, head_sha, orig_head))) return undefined;
  if (await isAncestor(git, head_sha, onto_commit)) return undefined;
  const left = `the commits up to ${head_sha.slice(0, 12)} were merged with #${number} as ${merge_commit.slice(0, 12)}, so they are not moved`;
  return { upstream: head_sha, notes: [`${left}; git log ${head_sha.slice(0, 12)} lists them`] };
};
