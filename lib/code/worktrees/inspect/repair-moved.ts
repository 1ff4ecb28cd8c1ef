import { join } from 'node:path';
import { isAtOrBelow } from '../../../../store/base/at-or-below.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { WithStore } from '../../../../store/store.ts';
import { turnPlaces } from '../../../../store/worktrees/turn-records.ts';
import { whatIsAt, worktreeRecords } from '../../../../store/worktrees/worktrees.ts';
import type { WithLog } from '../../../log.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { notedPlace, repairWorktree } from '../../../tools/git/write/worktree.ts';
import { pointGitFile } from '../../turn-repository/dot-git.ts';

/**
 * Has git find the worktrees of a workspace that was moved: where git's own record names a place at which nothing is any
 * more. Whatever else is wrong with a worktree stays, and is told.
 */
export const followMove = async (service: WithGit & WithLog & WithStore): Promise<void> => {
  const { store, git, log } = service;
  for (const { record } of worktreeRecords(store)) {
    if (record === undefined || !isMoved(record, store.layout.dossier)) continue;
    const { case_id, path, git_dir } = record;
    const former = join(notedPlace(record), '..', '..', 'repositories', case_id, 'git');
    // The turn that a daemon left: its repository came along, and is taken in by the record of the turn.
    for (const dir of [former, turnPlaces(store.layout, case_id).dir])
      pointGitFile(record, dir, git_dir);
    try {
      await repairWorktree(git, record);
      log.info({ case_id, path }, 'The worktree was moved with the workspace: git knows its place');
    } catch (error) {
      log.error({ err: error, case_id, path }, 'git could not be told where the worktree is now');
    }
  }
};

const isMoved = (record: WorktreeRecord, dossier: string): boolean => {
  const { path, attached } = record;
  const noted = notedPlace(record);
  if (attached || noted === '' || noted === path || whatIsAt(noted) !== 'nothing') return false;
  return isAtOrBelow(path, dossier) && whatIsAt(path) === 'directory';
};
