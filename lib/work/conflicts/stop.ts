import type { ConflictFile, StoppedRebase } from '../../../store/records/conflict.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import {
  type ConflictChange,
  changeConflict,
  type StoredConflict,
} from '../../../store/sessions/conflicts.ts';
import type { Store } from '../../../store/store.ts';
import { dropSnapshot, snapshot } from '../../code/snapshots/snapshot.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { toFile } from '../../code/worktrees/rebase/conflict-prompt.ts';
import { CONFLICT, isRestoring } from '../../code/worktrees/rebase/rebase-state.ts';
import type { Unmerged } from '../../code/worktrees/rebase/unmerged.ts';
import { counted } from '../../text/wording.ts';
import type { Stop } from '../../tools/git/write/rebase.ts';
import { update } from '../cases/change.ts';
import { isClosed, moveTo, unblock } from '../cases/moves.ts';
import { endQueued } from '../sessions/lifecycle/control.ts';
import type { TurnNeeds } from '../sessions/live/needs.ts';

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
  const ofChanges = isRestoring(conflict);
  const where = ofChanges
    ? 'the commits are rebased; the uncommitted changes conflict'
    : `stopped at commit ${stop.number} of ${stop.count}`;
  const all = merged(matter.files, told);
  await changeConflict(store, conflict, {
    step: 'conflicted',
    conflicted: { ref, commit },
    stopped: stop,
    file_count: matter.file_count + all.length - matter.files.length,
    files: all.slice(0, MOST_FILES),
    ...(matter.conflicted_at === null && { conflicted_at: store.clock().toISOString() }),
    line: `${where}: ${counted(told.length, 'file')} in conflict (${named(told)})`,
  });
  if (matter.conflicted !== null) await dropSnapshot(git.at(worktree), matter.conflicted);
  const { head: _, ...at } = stop;
  const step = { status: 'conflicted' as const, files: told, onto: matter.onto, commit: at };
  return ofChanges ? { ...step, changes: 'conflicted' } : step;
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
 * Ends the rebase: aborts queued conflict sessions, and returns the Work item to its state before, unless something else had
 * blocked it. The record is written last.
 */
export const close = async (
  service: TurnNeeds,
  conflict: StoredConflict,
  change: ConflictChange,
): Promise<void> => {
  const { store } = service;
  const { case_id, matter } = conflict;
  await endQueued(service, case_id, CONFLICT);
  if (matter.case_state_before !== 'BLOCKED') await update(store, case_id, unblock);
  const ended_at = store.clock().toISOString();
  await changeConflict(store, conflict, { step: null, ended_at, ...change });
};
