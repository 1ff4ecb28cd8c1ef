import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { StoredConflict } from '../../../../store/sessions/conflicts.ts';
import { changeConflict } from '../../../../store/sessions/conflicts.ts';
import type { WithStore } from '../../../../store/store.ts';
import type { Git, WithGit } from '../../../tools/git/run/git.ts';
import { rebaseState } from '../../../tools/git/write/rebase.ts';
import { putIndex } from '../../snapshots/restore.ts';
import { indexDiffers, readWorktreeSnapshot } from '../../snapshots/snapshot.ts';
import { isThisRebase, rebaseUnderWay } from './under-way.ts';

/** What a session about conflicts did beyond its task: it was put right (`undone`), or cannot be (`broken`), as a sentence. */
interface Overstepped {
  undone?: string;
  broken?: string;
}

/**
 * Puts back what an agent staged: the files in conflict stay as it left them, and are in conflict again. An agent that
 * committed, or ended the rebase, cannot be undone but by an abort.
 */
export const unstage = async (
  service: WithGit & WithStore,
  worktree: WorktreeRecord,
): Promise<Overstepped> => {
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
  'The agent staged files. That was undone: they are as it left them, and in conflict until you apply.';
const BROKEN =
  'The agent went on with the rebase by itself, or ended it. Look at the worktree; …/conflicts/abort brings back the exact state before the rebase.';

const isStill = async (
  git: Git,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
): Promise<boolean> => {
  const state = await rebaseState(git.at(worktree));
  const { stopped } = conflict.matter;
  if (state === undefined || !isThisRebase(state, conflict)) return false;
  return state.stop.head === stopped?.head && state.stop.number === stopped.number;
};
