import { sha256 } from '../../../../store/base/sha256.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { WithStore } from '../../../../store/store.ts';
import type { WithLog } from '../../../log.ts';
import {
  type ChangedFile,
  type DiffSummary,
  worktreeChanges,
} from '../../../tools/git/read/diff.ts';
import { status } from '../../../tools/git/read/status.ts';
import type { Git, WithGit } from '../../../tools/git/run/git.ts';
import { takePicture } from '../../snapshots/picture.ts';
import { findWorktree } from '../read.ts';

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

/** What of the work can be named. */
interface WorkThere {
  head?: string;
  /** The commit that holds it: undefined while HEAD is where the branch began. */
  commit?: string;
  dirty?: boolean;
  /** Of all that the worktree holds against its base; null for nothing. Undefined where nobody asked for it. */
  diff_sha256?: string | null;
  /** Of all its files, committed or not, but not ignored: the same tree is the same work. Undefined where nobody asked for it. */
  tree?: string;
  /** It holds more than its base. */
  has_work?: boolean;
}

/** `uncommitted`: where not all is committed. */
interface Wanted {
  diff: boolean | 'uncommitted';
  tree: boolean;
}

/**
 * What a worktree holds now, with the hash of its diff and the tree of its files or without.
 * Empty without a worktree. Never throws: it only goes with other records.
 */
export const workOf = async (
  { store, git, log }: WithGit & WithLog & WithStore,
  caseId: string,
  wanted: Wanted,
): Promise<WorkThere> => {
  try {
    const record = findWorktree(store, caseId);
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
    // What is wrong with a worktree is told by its status; a proof can be attached all the same.
    log.debug({ err: error, case_id: caseId }, 'what the worktree holds cannot be read');
    return {};
  }
};

const hashesOf = async (
  git: Git,
  record: WorktreeRecord,
  { diff, tree, dirty }: Wanted & { dirty: boolean },
): Promise<Pick<WorkThere, 'diff_sha256' | 'tree'>> => {
  const isWanted = diff === 'uncommitted' ? dirty : diff;
  const patch = isWanted ? (await worktreeDiff(git, record)).patch : undefined;
  return {
    ...(patch !== undefined && { diff_sha256: patch.length === 0 ? null : sha256(patch) }),
    ...(tree && { tree: (await takePicture(git.at(record))).files }),
  };
};
