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
 * Repairs git's records of worktrees after the workspace was moved: only where the recorded path no longer exists.
 * Other problems of a worktree are left for its status to report.
 */
export const followMove = async (service: WithGit & WithLog & WithStore): Promise<void> => {
  const { store, git, log } = service;
  for (const { record } of worktreeRecords(store)) {
    if (record === undefined || !isMoved(record, store.layout.dossier)) continue;
    const { case_id, path, git_dir } = record;
    const former = join(notedPlace(record), '..', '..', 'repositories', case_id, 'git');
    // The repository of an unfinished turn moved along; the record of the turn imports it later.
    for (const dir of [former, turnPlaces(store.layout, case_id).dir])
      pointGitFile(record, dir, git_dir);
    try {
      await repairWorktree(git, record);
      log.info({ case_id, path }, 'Worktree moved with the workspace; git record repaired');
    } catch (error) {
      log.error(
        { err: error, case_id, path },
        'git record of a moved worktree could not be repaired',
      );
    }
  }
};

const isMoved = (record: WorktreeRecord, dossier: string): boolean => {
  const { path, attached } = record;
  const noted = notedPlace(record);
  if (attached || noted === '' || noted === path || whatIsAt(noted) !== 'nothing') return false;
  return isAtOrBelow(path, dossier) && whatIsAt(path) === 'directory';
};
