import type { RebaseStep } from '../../../store/records/conflict.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { StoredConflict } from '../../../store/sessions/conflicts.ts';
import { unmergedFiles } from '../../code/worktrees/rebase/unmerged.ts';
import { ServiceError } from '../../errors.ts';
import { type RebaseAnswer, rebaseState } from '../../tools/git/write/rebase.ts';
import type { TurnNeeds } from '../sessions/live/needs.ts';
import { finish } from './finish.ts';
import { stopAt } from './stop.ts';

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
