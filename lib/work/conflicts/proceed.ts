import type {
  CleanRebase,
  ConflictFile,
  RebaseStep,
  StoppedRebase,
} from '../../../store/records/conflict.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { changeConflict, type StoredConflict } from '../../../store/sessions/conflicts.ts';
import type { Store } from '../../../store/store.ts';
import { moveBase } from '../../../store/worktrees/worktrees.ts';
import { bringBack } from '../../code/snapshots/set-aside.ts';
import { dropSnapshot, readWorktreeSnapshot, snapshot } from '../../code/snapshots/snapshot.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { toFile } from '../../code/worktrees/rebase/conflict-prompt.ts';
import { CONFLICT } from '../../code/worktrees/rebase/rebase-state.ts';
import { type Unmerged, unmergedFiles } from '../../code/worktrees/rebase/unmerged.ts';
import { ServiceError } from '../../errors.ts';
import { counted } from '../../text/wording.ts';
import { commitOf, headCommit } from '../../tools/git/read/repository.ts';
import type { Git } from '../../tools/git/run/git.ts';
import { putMessage } from '../../tools/git/write/git-files.ts';
import { type RebaseAnswer, rebaseState, type Stop } from '../../tools/git/write/rebase.ts';
import { update } from '../cases/change.ts';
import { isClosed, moveTo, unblock } from '../cases/moves.ts';
import { endQueued } from '../sessions/lifecycle/control.ts';
import type { TurnNeeds } from '../sessions/live/needs.ts';

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

/** Records a stop at a conflict: the Work item is BLOCKED, and the unmerged state is kept as a snapshot. */
export const stopAt = async (
  service: GitNeeds,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
  { files, stop }: { files: readonly Unmerged[]; stop: Stop },
): Promise<StoppedRebase> => {
  const { git, store } = service;
  const { matter } = conflict;
  const { ref, commit } = await snapshot(git, worktree, 'conflicted');
  await block(store, conflict);
  const told = files.map(toFile);
  const all = merged(matter.files, told);
  await changeConflict(store, conflict, {
    step: 'conflicted',
    conflicted: { ref, commit },
    stopped: stop,
    file_count: matter.file_count + all.length - matter.files.length,
    files: all.slice(0, MOST_FILES),
    ...(matter.conflicted_at === null && { conflicted_at: store.clock().toISOString() }),
    line: `stopped at commit ${stop.number} of ${stop.count}: ${counted(told.length, 'file')} in conflict (${named(told)})`,
  });
  if (matter.conflicted !== null) await dropSnapshot(git.at(worktree), matter.conflicted);
  const { head: _, ...at } = stop;
  return { status: 'conflicted', files: told, onto: matter.onto, commit: at };
};

const MOST_FILES = 200;

const merged = (before: readonly ConflictFile[], more: readonly ConflictFile[]): ConflictFile[] => {
  const known = new Set(before.map(({ path }) => path));
  return [...before, ...more.filter(({ path }) => !known.has(path))];
};

const named = (files: readonly ConflictFile[]): string =>
  files
    .slice(0, 5)
    .map(({ path, kind }) => `${path}: ${kind}`)
    .join(', ') + (files.length > 5 ? ', …' : '');

/** A closed Work item stays closed, although its branch is rebased. */
export const block = async (store: Store, { case_id }: StoredConflict): Promise<void> => {
  await update(store, case_id, (item) =>
    isClosed(item.state) ? undefined : moveTo(item, 'BLOCKED'),
  );
};

/**
 * Returns the Work item to its state before, unless something else had blocked it, and aborts queued conflict sessions.
 */
export const unblockCase = async (
  service: TurnNeeds,
  { case_id, matter }: StoredConflict,
): Promise<void> => {
  await endQueued(service, case_id, CONFLICT);
  if (matter.case_state_before !== 'BLOCKED') await update(service.store, case_id, unblock);
};

/**
 * Completes the rebase: set-aside changes are restored, the worktree's base is moved, and the record is written last.
 */
export const finish = async (
  service: TurnNeeds,
  worktree: WorktreeRecord,
  conflict: StoredConflict,
  how = 'ended',
): Promise<CleanRebase> => {
  const { git, store } = service;
  const { onto, onto_commit, set_aside, conflicted, conflicted_at } = conflict.matter;
  const head = (await headCommit(git.at(worktree))) ?? onto_commit;
  const isBack = await restoreSetAside(git, worktree, conflict);
  const base = (await isBranch(git, worktree, onto)) ? onto : worktree.base;
  await moveBase(store, worktree, { base, base_commit: onto_commit });
  if (conflicted !== null) await dropSnapshot(git.at(worktree), conflicted);
  await unblockCase(service, conflict);
  const words = isBack ? '' : `; the changes conflict and stay under ${set_aside?.ref}`;
  await changeConflict(store, conflict, {
    outcome: conflicted_at === null ? 'clean' : 'resolved',
    step: null,
    head,
    conflicted: null,
    ...(isBack && { set_aside: null }),
    ended_at: store.clock().toISOString(),
    line: `${how}: ${conflict.matter.branch} is at ${head}${words}`,
  });
  if (set_aside === null) return { status: 'clean', head, onto };
  if (isBack) return { status: 'clean', head, onto, changes: 'brought_back' };
  return { status: 'clean', head, onto, changes: 'set_aside', set_aside_ref: set_aside.ref };
};

// Restores the set-aside changes, with their prepared commit message, which git discards during the rebase. Also true
// where nothing was set aside.
const restoreSetAside = async (
  git: Git,
  worktree: WorktreeRecord,
  { matter: { set_aside, snapshot: before } }: StoredConflict,
): Promise<boolean> => {
  if (set_aside === null) return true;
  if (!(await bringBack(git, worktree, set_aside))) return false;
  if (before !== null)
    await putMessage(
      git.at(worktree),
      (await readWorktreeSnapshot(git.at(worktree), before)).git_files,
    );
  return true;
};

const isBranch = async (git: Git, worktree: WorktreeRecord, name: string): Promise<boolean> =>
  (await commitOf(git.at(worktree), `refs/heads/${name}`)) !== undefined ||
  (await commitOf(git.at(worktree), `refs/remotes/${name}`)) !== undefined;
