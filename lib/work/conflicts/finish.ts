import type { CleanRebase, RebaseStep } from '../../../store/records/conflict.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { changeConflict, type StoredConflict } from '../../../store/sessions/conflicts.ts';
import { moveBase } from '../../../store/worktrees/worktrees.ts';
import { bringBack, settle } from '../../code/snapshots/set-aside.ts';
import { dropSnapshot, readWorktreeSnapshot } from '../../code/snapshots/snapshot.ts';
import { isRestoring } from '../../code/worktrees/rebase/rebase-state.ts';
import { unmergedFiles } from '../../code/worktrees/rebase/unmerged.ts';
import { syncCommits } from '../../code/worktrees/recovery/sync-work.ts';
import { orNotFound, ServiceError } from '../../errors.ts';
import { branchCommit } from '../../tools/git/read/base.ts';
import { headCommit } from '../../tools/git/read/repository.ts';
import type { Git } from '../../tools/git/run/git.ts';
import { putMessage } from '../../tools/git/write/git-files.ts';
import { type RebaseAnswer, rebaseState } from '../../tools/git/write/rebase.ts';
import type { TurnNeeds } from '../sessions/live/needs.ts';
import { close, stopAt } from './stop.ts';

/**
 * Handles the result of git: a stop at a conflict, or the end of the rebase. Anything else is thrown, with git's
 * message.
 */
export const proceed = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
  { done, said }: RebaseAnswer,
): Promise<RebaseStep> => {
  const { git } = service;
  const state = await rebaseState(git.at(worktree));
  if (done && state === undefined) return finish(service, worktree, conflict);
  const files = await unmergedFiles(git.at(worktree));
  if (state !== undefined && files.length > 0)
    return stopAt(service, worktree, conflict, { files, stop: state.stop });
  throw gitSaid(said);
};

const gitSaid = (said: string): ServiceError => {
  const words = said.split('\n').map((line) => line.trim());
  const detail = words.filter((line) => line !== '' && !/^(?:hint:|Rebasing)/.test(line));
  const why = detail.slice(0, 6).join(' ').slice(0, 600);
  if (/\.lock': File exists/.test(said)) return new ServiceError('worktree_busy', why);
  if (/would be overwritten|would lose untracked|unstaged changes/.test(said))
    return new ServiceError('uncommitted_changes', why);
  return new ServiceError('git_failed', why || 'git rebase failed without a message.');
};

/**
 * Ends the rebase after its last commit: the changes that were set aside are restored, and where they conflict, the
 * rebase stops as at a commit. Throws 409 `uncommitted_changes` if other changes are in the way.
 */
export const finish = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
  how = 'ended',
): Promise<RebaseStep> => {
  const { git } = service;
  const { set_aside, conflicted } = conflict.matter;
  if (set_aside === null) return complete(service, worktree, conflict, how);
  if (isRestoring(conflict) && conflicted !== null) {
    // The branch moved on from the stop: the operator resolved and committed the changes.
    await dropSnapshot(git.at(worktree), set_aside);
    return complete(service, worktree, conflict, how);
  }
  const [restoring, stop] = await beginRestoring(service, worktree, conflict);
  const left = isRestoring(conflict) ? await unmergedFiles(git.at(worktree)) : [];
  if (left.length === 0 && (await bringBack(git, worktree, set_aside)))
    return complete(service, worktree, restoring, how);
  const files = left.length === 0 ? await unmergedFiles(git.at(worktree)) : left;
  return stopAt(service, worktree, restoring, { files, stop });
};

/** Ends the rebase once the conflicts of the changes that were set aside are resolved and staged. */
export const finishRestoring = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
): Promise<CleanRebase> => {
  const { set_aside } = conflict.matter;
  if (set_aside !== null) await settle(service.git, worktree, set_aside);
  return complete(service, worktree, conflict, 'ended');
};

// Recorded before a file changes, so that the next start knows whose conflicts it finds.
const beginRestoring = async (
  { git, store }: TurnNeeds,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
): Promise<[StoredConflict, NonNullable<StoredConflict['matter']['stopped']>]> => {
  const { id, set_aside, onto_commit, conflicted } = conflict.matter;
  const head = (await headCommit(git.at(worktree))) ?? onto_commit;
  const stopped = { head, commit: set_aside?.commit ?? null, number: 1, count: 1 };
  const line = 'the commits are rebased; restoring the uncommitted changes';
  const now = await changeConflict(store, conflict, { stopped, conflicted: null, line });
  if (conflicted !== null) await dropSnapshot(git.at(worktree), conflicted);
  return [orNotFound(now, 'rebase', id), stopped];
};

// The worktree's base is moved, and the record is written last.
const complete = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
  how: string,
): Promise<CleanRebase> => {
  const { git, store } = service;
  const { onto, onto_commit, set_aside, conflicted, conflicted_at } = conflict.matter;
  const head = (await headCommit(git.at(worktree))) ?? onto_commit;
  if (set_aside !== null) await restoreMessage(git, worktree, conflict);
  await syncCommits(service, { ...worktree, base_commit: onto_commit });
  const isBranch = (await branchCommit(git.at(worktree), onto)) !== undefined;
  const base = isBranch ? onto : worktree.base;
  await moveBase(store, worktree, { base, base_commit: onto_commit });
  if (conflicted !== null) await dropSnapshot(git.at(worktree), conflicted);
  await close(service, conflict, {
    outcome: conflicted_at === null ? 'clean' : 'resolved',
    head,
    conflicted: null,
    set_aside: null,
    line: `${how}: ${conflict.matter.branch} is at ${head}`,
  });
  const answer = { status: 'clean' as const, head, onto };
  return set_aside === null ? answer : { ...answer, changes: 'brought_back' };
};

// git discards the prepared commit message of uncommitted changes during a rebase.
const restoreMessage = async (
  git: Git,
  worktree: WorktreeRecord,
  { matter: { snapshot: before } }: StoredConflict,
): Promise<void> => {
  if (before === null) return;
  const { git_files } = await readWorktreeSnapshot(git.at(worktree), before);
  await putMessage(git.at(worktree), git_files);
};
