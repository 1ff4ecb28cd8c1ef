import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { whatIsAt } from '../../../../store/worktrees/worktrees.ts';
import { ServiceError } from '../../../errors.ts';
import { isTampered } from '../../../tools/git/write/worktree.ts';

type WorktreeState = 'ok' | 'missing' | 'tampered';

/**
 * Whether what is recorded is there: `tampered` is another directory than the one that was made, or one that a link
 * leads to, or one whose `.git` file no longer says what git's own record says.
 */
export const stateOf = async (record: WorktreeRecord): Promise<WorktreeState> => {
  const found = whatIsAt(record.path);
  if (found === 'nothing') return 'missing';
  return found === 'else' || (await isTampered(record)) ? 'tampered' : 'ok';
};

/** What the operator is told of a worktree that is not as it was made. It is never put right silently. */
export const adviceFor = (
  { case_id, path, branch }: WorktreeRecord,
  state: Exclude<WorktreeState, 'ok'>,
): string =>
  state === 'missing'
    ? `${path} is gone. Put it back, or send DELETE /api/cases/${case_id}/worktree and make a new one: the branch ${branch} keeps its commits.`
    : `${path} is not the worktree that was made: the directory, its .git file or git's record of it was changed. Look at what is there; mend it (git worktree repair) or move it away, then try again.`;

/** Throws 409 unless the worktree is there as it was made. */
export const checkState = async (record: WorktreeRecord): Promise<void> => {
  const state = await stateOf(record);
  if (state === 'ok') return;
  throw new ServiceError(`worktree_${state}`, adviceFor(record, state));
};
