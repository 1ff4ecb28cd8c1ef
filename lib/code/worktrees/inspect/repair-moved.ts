import { join } from 'node:path';
import { isAtOrBelow } from '../../../../store/base/paths.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { WithStore } from '../../../../store/store.ts';
import { turnPlaces } from '../../../../store/worktrees/turn-records.ts';
import { pathKind, worktreeRecords } from '../../../../store/worktrees/worktrees.ts';
import type { WithLog } from '../../../log.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { notedPlace, repairWorktree } from '../../../tools/git/write/worktree.ts';
import { pointGitFile } from '../../turn-repository/dot-git.ts';

/** Repairs git's records of worktrees after the workspace was moved, and logs it. */
export const repairMovedWorktrees = async (
  service: WithGit & WithLog & WithStore,
): Promise<void> => {
  const { store, log } = service;
  for (const { record } of worktreeRecords(store)) {
    if (record === undefined) continue;
    const { case_id, path } = record;
    try {
      if (await repairMovedWorktree(service, record))
        log.info({ case_id, path }, 'worktree moved with the workspace; git record repaired');
    } catch (error) {
      log.error(
        { err: error, case_id, path },
        'repairing the git record of a moved worktree failed',
      );
    }
  }
};

/**
 * Repairs git's record of a worktree that was moved, or whose original is gone, with its workspace: only where the recorded
 * path no longer exists. Returns whether it did. Other problems of a worktree are left for its status to report.
 */
export const repairMovedWorktree = async (
  { store, git }: WithGit & WithStore,
  record: WorktreeRecord,
): Promise<boolean> => {
  if (!isMoved(record, store.layout.dossier)) return false;
  const { case_id, git_dir } = record;
  const former = join(notedPlace(record), '..', '..', 'repositories', case_id, 'git');
  // The repository of an unfinished turn moved along; the record of the turn imports it later.
  for (const dir of [former, turnPlaces(store.layout, case_id).dir])
    pointGitFile(record, dir, git_dir);
  await repairWorktree(git, record);
  return true;
};

const isMoved = (record: WorktreeRecord, dossier: string): boolean => {
  const { path, attached } = record;
  const noted = notedPlace(record);
  if (attached || noted === '' || noted === path || pathKind(noted) !== 'nothing') return false;
  return isAtOrBelow(path, dossier) && pathKind(path) === 'directory';
};
