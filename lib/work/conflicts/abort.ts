import { messageOf } from '../../../store/base/attempt.ts';
import type { AbortedRebase } from '../../../store/records/conflict.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import {
  changeConflict,
  openConflict,
  type StoredConflict,
} from '../../../store/sessions/conflicts.ts';
import { type Restored, restore } from '../../code/snapshots/restore.ts';
import { dropSnapshot, readWorktreeSnapshot } from '../../code/snapshots/snapshot.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import type { WithLog } from '../../log.ts';
import { counted } from '../../text/wording.ts';
import type { Git } from '../../tools/git/run/git.ts';
import { putGitFiles } from '../../tools/git/write/git-files.ts';
import { exclusively } from '../sessions/lifecycle/operation.ts';
import type { SessionNeeds, TurnNeeds } from '../sessions/live/needs.ts';
import { ourRebase } from './current.ts';
import { block, close } from './stop.ts';

/** Aborts the rebase and restores the exact state before it. Changes made since are kept under a ref. */
export const abortRebase = (service: SessionNeeds, caseId: string): Promise<AbortedRebase> =>
  exclusively(service, caseId, 'abort of a rebase', async (worktree) => {
    const { store } = service;
    const { conflict: found } = await ourRebase(service, worktree);
    await changeConflict(store, found, { step: 'aborting', line: 'abort: restoring the worktree' });
    const restored = await restoreSnapshot(service, worktree, found);
    const left = unrestoredPaths(restored);
    if (left.length === 0) await dropSnapshots(service.git, worktree, found);
    await close(service, found, {
      outcome: 'aborted',
      ...(left.length === 0 && DROPPED),
      line: left.length === 0 ? 'aborted: the worktree is restored' : leftLine(left, worktree),
    });
    const { branch, orig_head: head } = found.matter;
    return { status: 'aborted', branch, head, undone_ref: restored?.kept_ref ?? null, left };
  });

const unrestoredPaths = (restored: Restored | undefined): string[] => {
  if (restored?.left.changed !== true) return [];
  const files = restored.left.files.map(({ path }) => path);
  return files.length > 0 ? files : ['the git state'];
};

const leftLine = (left: readonly string[], { path }: WorktreeRecord): string =>
  `aborted, but ${counted(left.length, 'path')} in ${path} could not be restored: ${left.slice(0, 5).join(', ')}; the snapshot is kept`;

/**
 * Restores HEAD, branch, index, files and modes from the snapshot, without `git rebase --abort`, which may fail. What
 * is undone is kept under a ref, which is written into the record first.
 */
const restoreSnapshot = async (
  { git, store }: GitNeeds,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
): Promise<Restored | undefined> => {
  const { snapshot } = conflict.matter;
  if (snapshot === null) return undefined;
  const before = await readWorktreeSnapshot(git.at(worktree), snapshot);
  const restored = await restore(
    git,
    worktree,
    before,
    async ({ undone, kept_ref, branch_ref }) => {
      const files = undone.files.map(({ path }) => path).slice(0, 5);
      const words = files.length === 0 ? '' : ` (${files.join(', ')})`;
      const moved =
        branch_ref === undefined ? '' : `; the branch had moved, its commit is under ${branch_ref}`;
      const line = `undone changes${words} are under ${kept_ref}${moved}`;
      await changeConflict(store, conflict, { line });
    },
  );
  await putGitFiles(git.at(worktree), before.git_files);
  return restored;
};

/** Drops the snapshots of the rebase, once everything is restored. */
const dropSnapshots = async (
  git: Git,
  worktree: WorktreeRecord,
  { matter: { snapshot, conflicted, set_aside } }: StoredConflict,
): Promise<void> => {
  for (const kept of [snapshot, conflicted, set_aside])
    if (kept !== null) await dropSnapshot(git.at(worktree), kept);
};

const DROPPED = { snapshot: null, conflicted: null, set_aside: null };

/** Undoes a rebase that failed to start; only its record remains, with the reason. Rethrows the error. */
export const undoFailedStart = async (
  service: TurnNeeds & WithLog,
  worktree: WorktreeRecord,
  error: unknown,
): Promise<never> => {
  const { store, log } = service;
  const conflict = openConflict(store, worktree.case_id);
  if (conflict === undefined) throw error;
  try {
    await restoreSnapshot(service, worktree, conflict);
    await dropSnapshots(service.git, worktree, conflict);
    await close(service, conflict, {
      outcome: 'failed',
      ...DROPPED,
      line: `failed, the worktree is restored: ${messageOf(error)}`,
    });
  } catch (other) {
    log.error(
      { err: other, case_id: worktree.case_id },
      'restoring the worktree after a failed rebase failed',
    );
    await block(store, conflict);
    const line = `failed (${messageOf(error)}), and restoring failed (${messageOf(other)}): send …/conflicts/abort`;
    await changeConflict(store, conflict, { step: 'interrupted', line });
  }
  throw error;
};
