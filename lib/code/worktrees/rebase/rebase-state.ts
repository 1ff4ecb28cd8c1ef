import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import {
  changeConflict,
  openConflict,
  type StoredConflict,
} from '../../../../store/sessions/conflicts.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import { invalidState, ServiceError } from '../../../errors.ts';
import { currentBranch, headCommit } from '../../../tools/git/read/repository.ts';
import type { Git, GitAt, GitWorktree, WithGit } from '../../../tools/git/run/git.ts';
import { type RebaseState, rebaseState } from '../../../tools/git/write/rebase.ts';
import { indexDiffers } from '../../snapshots/picture.ts';
import { putIndex } from '../../snapshots/restore.ts';
import { readWorktreeSnapshot } from '../../snapshots/snapshot.ts';

/** The unfinished rebase that the daemon began in the Work item's worktree. Throws `unreadable_record`. */
export const rebaseUnderWay = (store: Store, caseId: string): StoredConflict | undefined => {
  const open = openConflict(store, caseId);
  if (open === undefined) return undefined;
  const worktree = readWorktree(store, caseId);
  return worktree !== undefined && isOf(open, worktree) ? open : undefined;
};

/** Whether the rebase belongs to this worktree, and not to an earlier one of the Work item. */
export const isOf = ({ matter }: StoredConflict, { created_at }: WorktreeRecord): boolean =>
  matter.worktree_created_at === created_at;

/** Whether the rebase that git has in progress is the recorded one. */
export const isThisRebase = (
  { branch, onto, orig_head }: RebaseState,
  { matter }: StoredConflict,
): boolean =>
  branch === `refs/heads/${matter.branch}` &&
  onto === matter.onto_commit &&
  orig_head === matter.orig_head;

/** Whether the commits are rebased, and the changes that were set aside are being restored. */
export const isRestoring = ({ matter: { set_aside, stopped } }: StoredConflict): boolean =>
  set_aside !== null && stopped?.commit === set_aside.commit;

/**
 * The rebase in progress, or undefined. git has no state of changes that are restored after a rebase; then it is the
 * recorded one, while the branch is at its commit.
 */
export const stateOfRebase = async (
  git: GitAt<GitWorktree>,
  conflict: StoredConflict | undefined,
): Promise<RebaseState | undefined> => {
  const state = await rebaseState(git);
  if (state !== undefined || conflict === undefined || !isRestoring(conflict)) return state;
  const { branch, onto_commit: onto, orig_head, stopped } = conflict.matter;
  if (stopped === null || (await headCommit(git)) !== stopped.head) return undefined;
  if ((await currentBranch(git)) !== branch) return undefined;
  return { branch: `refs/heads/${branch}`, onto, orig_head, stop: stopped };
};

/** Whether a session of this type may start: conflict sessions during a rebase, all others only without one. */
export const canSessionStart = (store: Store, caseId: string, type: string): boolean =>
  (type === CONFLICT) === (rebaseUnderWay(store, caseId) !== undefined);

/** The type of a session that resolves conflicts. */
export const CONFLICT = 'conflict';

/** Throws 409 `rebase_in_progress`, or 422 for a conflict session without a rebase. */
export const refuseSession = (store: Store, caseId: string, type: string): void => {
  if (canSessionStart(store, caseId, type)) return;
  if (type === CONFLICT) throw noRebase();
  throw new ServiceError(
    'rebase_in_progress',
    `A rebase in the worktree has conflicts. Finish it with POST /api/cases/${caseId}/conflicts/apply or …/abort, or start an agent with …/resolve-with-agent.`,
  );
};

export const noRebase = (): ServiceError =>
  invalidState(
    'No rebase of the daemon is in progress in the worktree. Start one with POST /api/cases/…/pr/rebase.',
  );

export const foreignRebase = (): ServiceError =>
  new ServiceError(
    'rebase_in_progress',
    'A rebase that this daemon has no record of is in progress in the worktree. Finish it there with git rebase --continue or git rebase --abort, then try again.',
  );

/** What a conflict session did against its instructions, as a sentence: undone, or not reversible (`broken`). */
interface ConflictSessionCheck {
  undone?: string;
  broken?: string;
}

/**
 * Restores the index if an agent staged files: the files keep their content and are in conflict again. A commit or an
 * ended rebase can only be undone by an abort.
 */
export const unstage = async (
  service: WithGit & WithStore,
  worktree: WorktreeRecord,
): Promise<ConflictSessionCheck> => {
  const { git, store } = service;
  const conflict = rebaseUnderWay(store, worktree.case_id);
  if (conflict?.matter.conflicted == null) return {};
  if (!(await isStill(git, worktree, conflict))) {
    await changeConflict(store, conflict, { step: 'interrupted', line: BROKEN });
    return { broken: BROKEN };
  }
  const kept = await readWorktreeSnapshot(git.at(worktree), conflict.matter.conflicted);
  if (!(await indexDiffers(git.at(worktree), kept))) return {};
  await git.turn(worktree, async (now) => {
    await putIndex(now, kept);
    await now.run(['update-index', '-q', '--refresh'], { ok: [0, 1] });
  });
  await changeConflict(store, conflict, { line: UNDONE });
  return { undone: UNDONE };
};

const UNDONE =
  'The agent staged files. They were unstaged: their content is kept, and they are in conflict until you apply.';
const BROKEN =
  'The agent continued or ended the rebase itself. Check the worktree; …/conflicts/abort restores the exact state before the rebase.';

const isStill = async (
  git: Git,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
): Promise<boolean> => {
  const state = await stateOfRebase(git.at(worktree), conflict);
  const { stopped } = conflict.matter;
  if (state === undefined || !isThisRebase(state, conflict)) return false;
  return state.stop.head === stopped?.head && state.stop.number === stopped.number;
};
