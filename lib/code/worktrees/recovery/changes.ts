import { join } from 'node:path';
import type { Tree } from '../../../../store/fs/worktree/folder.ts';
import { endMove, type Moved, moveInTree } from '../../../../store/fs/worktree/move.ts';
import type { WorktreeChange, WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import {
  moveDirectoryToUndo,
  readWorktreeChange,
  removeWorktreeChange,
  saveWorktreeChange,
  worktreeChanges,
} from '../../../../store/worktrees/worktree-changes.ts';
import {
  forgetWorktree,
  pathKind,
  readWorktree,
  withWorktreeLock,
} from '../../../../store/worktrees/worktrees.ts';
import { ServiceError } from '../../../errors.ts';
import { repositoryOf, type WithGit } from '../../../tools/git/run/git.ts';
import { removeIfDead, waitForGit } from '../../../tools/git/run/stale-lock.ts';
import { removeEntries } from '../../../tools/git/write/worktree-entry.ts';
import { stateOf } from '../inspect/status.ts';
import { treeOf } from '../read.ts';

/** Writes a change record before a worktree is created or removed, so that a crash can be repaired. */
export const beginWorktreeChange = (
  store: Store,
  change: 'make' | 'remove',
  { case_id, path, branch, common_dir }: Omit<WorktreeChange, 'change'>,
): Promise<void> => saveWorktreeChange(store, { case_id, change, path, branch, common_dir });

/** Moves a file or directory of a worktree. A change record lets the next start finish an interrupted move. */
export const moveDurably = async (
  store: Store,
  tree: Tree,
  { record, ...moved }: { record: WorktreeRecord; from: string; to: string },
): Promise<Moved> => {
  const { case_id, path, branch, common_dir } = record;
  const note = () =>
    saveWorktreeChange(store, { case_id, change: 'move', path, branch, common_dir, moved });
  const done = await moveInTree(tree, moved, note);
  await endWorktreeChange(store, case_id);
  return done;
};

export const endWorktreeChange = ({ layout }: Store, caseId: string): Promise<void> =>
  removeWorktreeChange(layout, caseId);

/**
 * Finishes a change that a former daemon process did not finish; call it under the lock of the worktree. A removal that
 * had begun is completed. A partly created worktree is removed, because no call returned it; its files are kept for a week.
 */
export const finishInterruptedChange = async (
  service: WithGit & WithStore,
  caseId: string,
): Promise<void> => {
  const { store } = service;
  const change = readWorktreeChange(store.layout, caseId);
  if (change === undefined) return;
  const record = readWorktree(store, caseId);
  if (change.change === 'remove') await finishRemoval(service, change, record);
  else if (change.change === 'move') await finishMove(store, change, record);
  else if (record === undefined) await clearHalfMade(service, change);
  await endWorktreeChange(store, caseId);
};

/** Finishes only an interrupted move, before the next change of files. Call it under the lock of the worktree. */
export const finishInterruptedMove = async (
  store: Store,
  record: WorktreeRecord,
): Promise<void> => {
  const change = readWorktreeChange(store.layout, record.case_id);
  if (change?.change !== 'move') return;
  await finishMove(store, change, record);
  await endWorktreeChange(store, record.case_id);
};

/** Finishes all interrupted changes at the start. One that fails is tried again by the next call that needs it. */
export const finishInterruptedChanges = async (service: WithGit & WithStore): Promise<void> => {
  const { store } = service;
  for (const caseId of worktreeChanges(store.layout))
    await withWorktreeLock(store, caseId, () => finishInterruptedChange(service, caseId)).catch(
      (error: unknown) => store.report(error, 'finishing an interrupted change of a worktree'),
    );
};

const finishRemoval = async (
  { git, store }: WithGit & WithStore,
  { path }: WorktreeChange,
  record: WorktreeRecord | undefined,
): Promise<void> => {
  if (record?.path !== path || record.attached || (await stateOf(record)) === 'ok') return;
  await git.turn(record, () => removeEntries(record));
  await forgetWorktree(store, record.case_id);
};

const finishMove = async (
  store: Store,
  { path, moved }: WorktreeChange,
  record: WorktreeRecord | undefined,
): Promise<void> => {
  if (record?.path !== path || moved === undefined || (await stateOf(record)) !== 'ok') return;
  await endMove(treeOf(store, record), moved);
};

const clearHalfMade = async (
  { git, store }: WithGit & WithStore,
  { path, branch, common_dir }: WorktreeChange,
): Promise<void> => {
  if (pathKind(common_dir) === 'nothing') return;
  if (!(await waitForGit(common_dir))) throw busy(path);
  await git.turn(repositoryOf({ common_dir }), async () => {
    if (pathKind(path) === 'directory') {
      const kept = await moveDirectoryToUndo(store.layout, path);
      store.report(
        undefined,
        `The worktree ${path} was incomplete. It is kept for a week: ${kept}`,
      );
    }
    await removeEntries({ path, common_dir });
    // No git process is running, so the lock is stale whatever its age.
    removeIfDead(common_dir, join(common_dir, 'refs', 'heads', `${branch}.lock`), 0);
  });
};

const busy = (path: string): ServiceError =>
  new ServiceError(
    'worktree_busy',
    `A git command is running in the repository of ${path} and may be creating the worktree. Try again when it has ended.`,
  );
