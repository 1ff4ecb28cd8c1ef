import { changeConflict, openConflict, type StoredConflict } from '../../../store/conflicts.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { type Restored, restore } from '../../code/snapshots/restore.ts';
import { dropSnapshot, readWorktreeSnapshot } from '../../code/snapshots/snapshot.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import type { WithLog } from '../../log.ts';
import type { Git } from '../../tools/git/run/git.ts';
import { putGitFiles } from '../../tools/git/write/git-files.ts';
import type { TurnNeeds } from '../sessions/live/needs.ts';
import { gitMessage } from './preflight.ts';
import { block, letGo } from './proceed.ts';

/**
 * Ends the rebase and puts the worktree back exactly as its snapshot has it, without git's own way to abort, which may
 * fail: HEAD, branch, index, files, modes. What is undone is kept under a ref, which the record names before.
 */
export const putBack = async (
  { git, store }: GitNeeds,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
): Promise<Restored | undefined> => {
  const { snapshot } = conflict.matter;
  if (snapshot === null) return undefined;
  const before = await readWorktreeSnapshot(git, worktree, snapshot);
  const restored = await restore(git, worktree, before, async ({ undone, kept_ref }) => {
    const files = undone.files.map(({ path }) => path).slice(0, 5);
    const words = files.length === 0 ? '' : ` (${files.join(', ')})`;
    await changeConflict(store, conflict, { line: `what is undone${words} is under ${kept_ref}` });
  });
  await putGitFiles(git, worktree, before.git_files);
  return restored;
};

/** Lets go of what was kept for the rebase, once all is as it was. */
export const dropKept = async (
  git: Git,
  worktree: WorktreeRecord,
  { matter: { snapshot, conflicted, set_aside } }: StoredConflict,
): Promise<void> => {
  for (const kept of [snapshot, conflicted, set_aside])
    if (kept !== null) await dropSnapshot(git, worktree, kept);
};

/** A rebase that could not begin leaves nothing behind but its record, which says why. Throws what it was told. */
export const undo = async (
  service: TurnNeeds & WithLog,
  worktree: WorktreeRecord,
  error: unknown,
): Promise<never> => {
  const { store, log } = service;
  const conflict = openConflict(store, worktree.case_id);
  if (conflict === undefined) throw error;
  try {
    await putBack(service, worktree, conflict);
    await dropKept(service.git, worktree, conflict);
    await letGo(service, conflict);
    await changeConflict(store, conflict, {
      ...{ outcome: 'failed', step: null, snapshot: null, conflicted: null, set_aside: null },
      ended_at: service.store.clock().toISOString(),
      line: `failed, and all is as it was: ${gitMessage(error)}`,
    });
  } catch (other) {
    log.error({ err: other, case_id: worktree.case_id }, 'A rebase that failed was not put back');
    await block(store, conflict);
    const line = `failed (${gitMessage(error)}), and was not put back (${gitMessage(other)}): send …/conflicts/abort`;
    await changeConflict(store, conflict, { step: 'interrupted', line });
  }
  throw error;
};
