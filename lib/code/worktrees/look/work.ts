import { sha256 } from '../../../../base/sha256.ts';
import type { WithStore } from '../../../../store/store.ts';
import type { WithLog } from '../../../log.ts';
import { status } from '../../../tools/git/read/status.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { findWorktree } from '../read.ts';
import { worktreeDiff } from './diff.ts';

/** What of the work can be named. */
interface WorkThere {
  head?: string;
  /** The commit that holds it: undefined while HEAD is where the branch began. */
  commit?: string;
  dirty?: boolean;
  /** Of all that the worktree holds against its base; null for nothing. Undefined where nobody asked for it. */
  diff_sha256?: string | null;
}

/**
 * What a worktree holds now, with the hash of its diff or without; `uncommitted`: with it where not all is committed.
 * Empty without a worktree. Never throws: it only goes with other records.
 */
export const workOf = async (
  { store, git, log }: WithGit & WithLog & WithStore,
  caseId: string,
  diff: boolean | 'uncommitted',
): Promise<WorkThere> => {
  try {
    const record = findWorktree(store, caseId);
    if (record === undefined) return {};
    const { head, dirty } = await status(git.at(record));
    const commit = head === record.base_commit ? null : head;
    const isWanted = diff === 'uncommitted' ? dirty : diff;
    const patch = isWanted ? (await worktreeDiff(git, record)).patch : undefined;
    return {
      dirty,
      ...(head !== null && { head }),
      ...(commit !== null && { commit }),
      ...(patch !== undefined && { diff_sha256: patch.length === 0 ? null : sha256(patch) }),
    };
  } catch (error) {
    // What is wrong with a worktree is told by its status; a proof can be attached all the same.
    log.debug({ err: error, case_id: caseId }, 'what the worktree holds cannot be read');
    return {};
  }
};
