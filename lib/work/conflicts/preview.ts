import type { ConflictPreview } from '../../../store/records/conflict.ts';
import { toFile } from '../../code/rebase/conflict-words.ts';
import { rebaseUnderWay } from '../../code/rebase/under-way.ts';
import { conflictDiff, unmergedFiles } from '../../code/rebase/unmerged.ts';
import { checkState } from '../../code/worktrees/look/state.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { getWorktree } from '../../code/worktrees/read.ts';
import { ServiceError } from '../../errors.ts';
import { rebaseState } from '../../tools/git/write/rebase.ts';

/** The files in conflict as they are now, and git's own diff of them. 404 when no rebase waits. Changes nothing. */
export const previewConflicts = async (
  { store, git }: GitNeeds,
  caseId: string,
): Promise<ConflictPreview> => {
  const worktree = getWorktree(store, caseId);
  if (rebaseUnderWay(store, caseId) === undefined) throw nothingToSee(caseId);
  await checkState(worktree);
  if ((await rebaseState(git.at(worktree))) === undefined) throw nothingToSee(caseId);
  const files = await unmergedFiles(git.at(worktree));
  const diff = files.length === 0 ? '' : (await conflictDiff(git.at(worktree), files)).toString();
  return { files: files.map(toFile), diff };
};

const nothingToSee = (caseId: string): ServiceError =>
  new ServiceError(
    'not_found',
    `No rebase waits in the worktree of the Work item ${caseId}. Start one with POST /api/cases/${caseId}/pr/rebase.`,
  );
