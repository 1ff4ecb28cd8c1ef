import { sha256 } from '../../../../store/base/sha256.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { WithStore } from '../../../../store/store.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import type { WithLog } from '../../../log.ts';
import { type WorktreeDiff, worktreeChanges } from '../../../tools/git/read/diff.ts';
import { status } from '../../../tools/git/read/status.ts';
import { withSubmodules } from '../../../tools/git/read/submodule-tree.ts';
import type { Git, GitAt, WithGit } from '../../../tools/git/run/git.ts';
import { takePicture } from '../../snapshots/picture.ts';

export type { WorktreeDiff } from '../../../tools/git/read/diff.ts';

/** The diff of the worktree against its base: committed, staged, unstaged and untracked changes, but not ignored files. */
export const worktreeDiff = (git: Git, record: WorktreeRecord): Promise<WorktreeDiff> =>
  worktreeChanges(git.at(record), { base: record.base_commit, copied: record.setup?.copied });

interface WorkDescription {
  head?: string;
  /** HEAD, unless it is the base commit. */
  commit?: string;
  dirty?: boolean;
  /** SHA-256 of the diff against the base; null if it is empty, undefined if not requested. */
  diff_sha256?: string | null;
  /** Tree of all files that are not ignored, committed or not, with submodules as they are; undefined if not requested. */
  tree?: string;
  /** Whether the worktree differs from its base. */
  has_work?: boolean;
}

/** `uncommitted`: hash the diff only if there are uncommitted changes. */
interface WorkOptions {
  diff: boolean | 'uncommitted';
  tree: boolean;
}

/**
 * Describes the current content of a worktree, optionally with the hash of its diff and the tree of its files. Empty
 * without a worktree. Never throws, because it only supplements other records.
 */
export const describeWork = async (
  { store, git, log }: WithGit & WithLog & WithStore,
  caseId: string,
  wanted: WorkOptions,
): Promise<WorkDescription> => {
  try {
    const record = readWorktree(store, caseId);
    if (record === undefined) return {};
    const { head, dirty } = await status(git.at(record));
    const commit = head === record.base_commit ? null : head;
    return {
      dirty,
      has_work: dirty || commit !== null,
      ...(head !== null && { head }),
      ...(commit !== null && { commit }),
      ...(await hashesOf(git, record, { ...wanted, dirty })),
    };
  } catch (error) {
    // The status of the worktree reports the error; a proof can be attached in any case.
    log.debug({ err: error, case_id: caseId }, 'reading worktree content failed');
    return {};
  }
};

const hashesOf = async (
  git: Git,
  record: WorktreeRecord,
  { diff, tree, dirty }: WorkOptions & { dirty: boolean },
): Promise<Pick<WorkDescription, 'diff_sha256' | 'tree'>> => {
  const isWanted = diff === 'uncommitted' ? dirty : diff;
  const patch = isWanted ? (await worktreeDiff(git, record)).patch : undefined;
  return {
    ...(patch !== undefined && { diff_sha256: patch.length === 0 ? null : sha256(patch) }),
    ...(tree && { tree: await treeOf(git.at(record)) }),
  };
};

const treeOf = async (git: GitAt<WorktreeRecord>): Promise<string> =>
  withSubmodules(git, (await takePicture(git)).files);
