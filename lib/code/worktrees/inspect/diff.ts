import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import {
  type ChangedFile,
  type DiffSummary,
  worktreeChanges,
} from '../../../tools/git/read/diff.ts';
import type { Git } from '../../../tools/git/run/git.ts';

export interface WorktreeDiff extends DiffSummary {
  /** Bytes: the files decide what encoding its lines have. `git apply` takes it. */
  patch: Buffer;
  changed: ChangedFile[];
  left_out: string[];
}

/** All that the worktree holds now against its base: committed, staged, unstaged and untracked, but not ignored. */
export const worktreeDiff = async (git: Git, record: WorktreeRecord): Promise<WorktreeDiff> => {
  const { patch, summary, changed, left_out } = await worktreeChanges(
    git.at(record),
    record.base_commit,
  );
  return { patch, changed, left_out, ...summary };
};
