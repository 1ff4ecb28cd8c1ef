import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { openConflict, type StoredConflict } from '../../../../store/sessions/conflicts.ts';
import type { Store } from '../../../../store/store.ts';
import { invalidState, ServiceError } from '../../../errors.ts';
import type { RebaseState } from '../../../tools/git/write/rebase.ts';
import { findWorktree } from '../read.ts';

/** The rebase that the daemon began in the Work item's worktree, and that has not ended. It throws `unreadable_record`. */
export const rebaseUnderWay = (store: Store, caseId: string): StoredConflict | undefined => {
  const open = openConflict(store, caseId);
  if (open === undefined) return undefined;
  const worktree = findWorktree(store, caseId);
  return worktree !== undefined && isOf(open, worktree) ? open : undefined;
};

/** Whether it was begun in this worktree, and not in one that was there before. */
export const isOf = ({ matter }: StoredConflict, { created_at }: WorktreeRecord): boolean =>
  matter.worktree_created_at === created_at;

/** Whether what git is in the middle of is that rebase, and not another that somebody began since. */
export const isThisRebase = (
  { branch, onto, orig_head }: RebaseState,
  { matter }: StoredConflict,
): boolean =>
  branch === `refs/heads/${matter.branch}` &&
  onto === matter.onto_commit &&
  orig_head === matter.orig_head;

/**
 * Whether a session of this type may start now: while a rebase waits for the operator only one that is about its
 * conflicts, and such a one only then.
 */
export const maySessionStart = (store: Store, caseId: string, type: string): boolean =>
  (type === CONFLICT) === (rebaseUnderWay(store, caseId) !== undefined);

/** The type of a session that resolves conflicts. */
export const CONFLICT = 'conflict';

/** Throws 409 `rebase_in_progress`, or 422 for a session about conflicts where there are none. */
export const refuseSession = (store: Store, caseId: string, type: string): void => {
  if (maySessionStart(store, caseId, type)) return;
  if (type === CONFLICT) throw noRebase();
  throw new ServiceError(
    'rebase_in_progress',
    `A rebase waits for you in the worktree. End it with POST /api/cases/${caseId}/conflicts/apply or …/abort, or have an agent look at it with …/resolve-with-agent.`,
  );
};

export const noRebase = (): ServiceError =>
  invalidState(
    'No rebase of the daemon is under way in the worktree. Start one with POST /api/cases/…/pr/rebase.',
  );

export const foreignRebase = (): ServiceError =>
  new ServiceError(
    'rebase_in_progress',
    'A rebase that the daemon did not start is under way in the worktree, and is left alone. End it there with git rebase --continue or git rebase --abort, then try again.',
  );
