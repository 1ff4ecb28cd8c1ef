import { join } from 'node:path';
import type { Tree } from '../../../../store/fs/worktree/folder.ts';
import { endMove, type Moved, moveInTree } from '../../../../store/fs/worktree/move.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { WorktreeChange } from '../../../../store/records/worktree-change.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import {
  forgetWorktreeChange,
  noteWorktreeChange,
  readWorktreeChange,
  setDirectoryAside,
  worktreeChanges,
} from '../../../../store/worktrees/worktree-changes.ts';
import { forgetWorktree, inWorktreeTurn, whatIsAt } from '../../../../store/worktrees/worktrees.ts';
import { ServiceError } from '../../../errors.ts';
import { untilNoGit } from '../../../tools/git/run/at-work.ts';
import { removeIfDead } from '../../../tools/git/run/dead-lock.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { removeEntries } from '../../../tools/git/write/worktree-entry.ts';
import { stateOf } from '../inspect/status.ts';
import { findWorktree } from '../read.ts';

/** Notes that a worktree is about to be made or removed. */
export const beginWorktreeChange = (
  store: Store,
  change: 'make' | 'remove',
  { case_id, path, branch, common_dir }: Omit<WorktreeChange, 'change'>,
): Promise<void> => noteWorktreeChange(store, { case_id, change, path, branch, common_dir });

/** Moves a file or directory of a worktree; what a power cut leaves of that is ended as other changes are. */
export const moveDurably = async (
  store: Store,
  tree: Tree,
  { record, ...moved }: { record: WorktreeRecord; from: string; to: string },
): Promise<Moved> => {
  const { case_id, path, branch, common_dir } = record;
  const note = () =>
    noteWorktreeChange(store, { case_id, change: 'move', path, branch, common_dir, moved });
  const done = await moveInTree(tree, moved, note);
  await endWorktreeChange(store, case_id);
  return done;
};

export const endWorktreeChange = ({ layout }: Store, caseId: string): Promise<void> =>
  forgetWorktreeChange(layout, caseId);

/**
 * Ends what a former life of the daemon began with a worktree and did not end: a removal is finished where it had removed
 * anything; of a worktree that was not whole nothing stays, so that it can be made anew. In the worktree's turn. Nobody was
 * answered that such a worktree is there; files found in it are kept for some days all the same.
 */
export const finishInterruptedChange = async (
  service: WithGit & WithStore,
  caseId: string,
): Promise<void> => {
  const { store } = service;
  const change = readWorktreeChange(store.layout, caseId);
  if (change === undefined) return;
  const record = findWorktree(store, caseId);
  if (change.change === 'remove') await finishRemoval(service, change, record);
  else if (change.change === 'move') await finishMove(store, change, record);
  else if (record === undefined) await clearHalfMade(service, change);
  await endWorktreeChange(store, caseId);
};

/** The same of a move alone, before the next change of files. In the worktree's turn. */
export const finishInterruptedMove = async (
  store: Store,
  record: WorktreeRecord,
): Promise<void> => {
  const change = readWorktreeChange(store.layout, record.case_id);
  if (change?.change !== 'move') return;
  await finishMove(store, change, record);
  await endWorktreeChange(store, record.case_id);
};

/** The same for all, at the start. What cannot be ended now is by the next call that needs it. */
export const finishChanges = async (service: WithGit & WithStore): Promise<void> => {
  const { store } = service;
  for (const caseId of worktreeChanges(store.layout))
    await inWorktreeTurn(store, caseId, () => finishInterruptedChange(service, caseId)).catch(
      (error: unknown) => store.report(error, 'ending what was begun with a worktree'),
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
  const closed = [record.git_dir, record.common_dir, store.layout.dossier];
  await endMove({ layout: store.layout, root: path, git_dir: record.git_dir, closed }, moved);
};

const clearHalfMade = async (
  { git, store }: WithGit & WithStore,
  { path, branch, common_dir }: WorktreeChange,
): Promise<void> => {
  if (whatIsAt(common_dir) === 'nothing') return;
  if (!(await untilNoGit(common_dir))) throw busy(path);
  await git.turn({ git_dir: common_dir, common_dir }, async () => {
    if (whatIsAt(path) === 'directory') {
      const kept = await setDirectoryAside(store.layout, path);
      store.report(undefined, `The worktree ${path} was not whole. It is kept for a week: ${kept}`);
    }
    await removeEntries({ path, common_dir });
    // Of the git that was cut off, however young it looks: none is at work any more.
    removeIfDead(common_dir, join(common_dir, 'refs', 'heads', `${branch}.lock`), 0);
  });
};

const busy = (path: string): ServiceError =>
  new ServiceError(
    'worktree_busy',
    `A git command is at work in the repository of ${path}, and may be making it. Try again when it has ended.`,
  );
