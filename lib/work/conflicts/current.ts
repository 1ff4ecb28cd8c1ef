import type { ConflictPreview } from '../../../store/records/conflict.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import {
  changeConflict,
  openConflict,
  type StoredConflict,
} from '../../../store/sessions/conflicts.ts';
import { listHeldLocks } from '../../../store/sessions/locks.ts';
import type { Store } from '../../../store/store.ts';
import { readWorktree, withWorktreeLock } from '../../../store/worktrees/worktrees.ts';
import { compareSnapshot, readWorktreeSnapshot } from '../../code/snapshots/snapshot.ts';
import { checkState, stateOf } from '../../code/worktrees/inspect/status.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { getWorktree } from '../../code/worktrees/read.ts';
import { toFile } from '../../code/worktrees/rebase/conflict-prompt.ts';
import {
  foreignRebase,
  isOf,
  isRestoring,
  isThisRebase,
  noRebase,
  rebaseUnderWay,
  stateOfRebase,
} from '../../code/worktrees/rebase/rebase-state.ts';
import { conflictDiff, unmergedFiles } from '../../code/worktrees/rebase/unmerged.ts';
import { ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import { currentBranch, headCommit, isAncestor } from '../../tools/git/read/repository.ts';
import type { Git } from '../../tools/git/run/git.ts';
import { awaitRebase, type RebaseState } from '../../tools/git/write/rebase.ts';
import { releaseOperationLock } from '../sessions/lifecycle/operation.ts';
import type { TurnNeeds } from '../sessions/live/needs.ts';
import { finish } from './finish.ts';
import { block, close, stopAt } from './stop.ts';

/**
 * The rebase in progress in this worktree. A step that the previous daemon left unfinished is examined first and
 * written into the record. The caller holds the session lock.
 */
export const currentConflict = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
): Promise<StoredConflict | undefined> => {
  const conflict = openConflict(service.store, worktree.case_id);
  if (conflict === undefined) return undefined;
  if (!isOf(conflict, worktree)) {
    const line = 'its worktree is gone; the rebase is not continued in another';
    await close(service, conflict, { outcome: 'interrupted', line });
    return undefined;
  }
  const { step } = conflict.matter;
  if (step === 'conflicted' || step === 'interrupted') return conflict;
  await recoverStep(service, worktree, conflict);
  return openConflict(service.store, worktree.case_id);
};

interface OurRebase {
  conflict: StoredConflict;
  /** Undefined when the rebase was ended by hand. */
  state: RebaseState | undefined;
}

/**
 * The daemon's rebase in progress. Throws 409 for a rebase that the daemon did not start, which is not touched, and 422
 * for none.
 */
export const ourRebase = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
): Promise<OurRebase> => {
  const conflict = await currentConflict(service, worktree);
  const state = await stateOfRebase(service.git.at(worktree), conflict);
  if (state !== undefined && (conflict === undefined || !isThisRebase(state, conflict)))
    throw foreignRebase();
  if (conflict === undefined) throw noRebase();
  return { conflict, state };
};

/**
 * Examines a step whose daemon died. Only what git proves counts as done: that it stopped at a conflict, ended, or
 * changed nothing. Otherwise the operator decides.
 */
const recoverStep = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
): Promise<void> => {
  const { id, step, snapshot } = conflict.matter;
  await awaitRebase(id);
  const state = await stateOfRebase(service.git.at(worktree), conflict);
  if (snapshot === null && state === undefined) return close(service, conflict, UNCHANGED);
  if (step === 'aborting')
    return markInterrupted(service.store, conflict, 'Send …/conflicts/abort again');
  if (state !== undefined) return recoverStopped(service, worktree, { conflict, state });
  if (await hasRebaseEnded(service.git, worktree, conflict))
    return finishOrInterrupt(service, worktree, conflict);
  if (snapshot !== null && (await isUntouched(service.git, worktree, snapshot)))
    return close(service, conflict, UNCHANGED);
  return markInterrupted(
    service.store,
    conflict,
    'Only …/conflicts/abort is safe: it restores everything',
  );
};

// Half-restored changes cannot be told from the operator's own, so the operator decides.
const finishOrInterrupt = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
): Promise<void> => {
  try {
    await finish(service, worktree, conflict, `${DAEMON_DIED}, and git ended the rebase`);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'uncommitted_changes') throw error;
    await markInterrupted(service.store, conflict, error.message);
  }
};

const DAEMON_DIED = 'the daemon stopped during this step';
const UNCHANGED = {
  outcome: 'interrupted',
  line: `${DAEMON_DIED} before anything was changed`,
} as const;

const recoverStopped = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
  { conflict, state }: { conflict: StoredConflict; state: RebaseState },
): Promise<void> => {
  const files = await unmergedFiles(service.git.at(worktree));
  const { stopped, conflicted } = conflict.matter;
  if (isRestoring(conflict) && conflicted === null)
    return finishOrInterrupt(service, worktree, conflict);
  const isStop = isThisRebase(state, conflict) && files.length > 0;
  const isSame = stopped?.head === state.stop.head && stopped.number === state.stop.number;
  if (isStop && isSame && conflicted !== null) {
    // The state in which git left the files is known; they may be resolved by now.
    await block(service.store, conflict);
    await changeConflict(service.store, conflict, { step: 'conflicted', line: DAEMON_DIED });
    return;
  }
  if (isStop && state.stop.commit !== null) {
    await changeConflict(service.store, conflict, { line: DAEMON_DIED });
    await stopAt(service, worktree, conflict, { files, stop: state.stop });
    return;
  }
  const advice = isSame
    ? 'everything is staged and not committed yet: send …/conflicts/apply again, or …/abort'
    : 'git was in the middle of a commit: only …/conflicts/abort is safe, it restores everything';
  await markInterrupted(service.store, conflict, advice);
};

const markInterrupted = async (
  store: Store,
  conflict: StoredConflict,
  advice: string,
): Promise<void> => {
  await block(store, conflict);
  await changeConflict(store, conflict, {
    step: 'interrupted',
    line: `${DAEMON_DIED} (${conflict.matter.step}). ${advice}`,
  });
};

/** Whether the branch is checked out, has moved, and contains the commit it was to be rebased onto. */
export const hasRebaseEnded = async (
  git: Git,
  worktree: WorktreeRecord,
  { matter }: StoredConflict,
): Promise<boolean> => {
  const head = await headCommit(git.at(worktree));
  if (head === undefined || head === matter.orig_head) return false;
  if ((await currentBranch(git.at(worktree))) !== matter.branch) return false;
  return isAncestor(git.at(worktree), matter.onto_commit, head);
};

const isUntouched = async (
  git: Git,
  worktree: WorktreeRecord,
  kept: { ref: string; commit: string },
): Promise<boolean> => {
  const before = await readWorktreeSnapshot(git.at(worktree), kept);
  return !(await compareSnapshot(git.at(worktree), before)).changed;
};

/** Examines rebases that the previous daemon left unfinished, records their state and releases their locks. */
export const recoverConflicts = async (service: TurnNeeds & WithLog): Promise<void> => {
  for (const { case_id, matter } of listHeldLocks(service.store)) {
    if (matter.operation === undefined) continue;
    await withWorktreeLock(service.store, case_id, () => recover(service, case_id)).catch(
      (error: unknown) => service.log.error({ err: error, case_id }, 'recovering a rebase failed'),
    );
  }
};

// The lock is released in any case: the next call examines what cannot be examined now.
const recover = async (service: TurnNeeds, caseId: string): Promise<void> => {
  try {
    const worktree = readWorktree(service.store, caseId);
    if (worktree !== undefined && (await stateOf(worktree)) === 'ok')
      await currentConflict(service, worktree);
  } finally {
    await releaseOperationLock(service.store, caseId);
  }
};

/** The current files in conflict and git's diff of them. Throws 404 when no rebase waits. Changes nothing. */
export const previewConflicts = async (
  { store, git }: GitNeeds,
  caseId: string,
): Promise<ConflictPreview> => {
  const worktree = getWorktree(store, caseId);
  const conflict = rebaseUnderWay(store, caseId);
  if (conflict === undefined) throw noRebaseToPreview(caseId);
  await checkState(worktree);
  if ((await stateOfRebase(git.at(worktree), conflict)) === undefined)
    throw noRebaseToPreview(caseId);
  const files = await unmergedFiles(git.at(worktree));
  const diff = files.length === 0 ? '' : (await conflictDiff(git.at(worktree), files)).toString();
  return { files: files.map(toFile), diff };
};

const noRebaseToPreview = (caseId: string): ServiceError =>
  new ServiceError(
    'not_found',
    `No rebase is in progress in the worktree of the Work item ${caseId}. Start one with POST /api/cases/${caseId}/pr/rebase.`,
  );
