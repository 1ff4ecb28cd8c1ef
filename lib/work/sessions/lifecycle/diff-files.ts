import type { DiffFile } from '../../../../store/records/diff-file.ts';
import { runsLater } from '../../../code/worktrees/inspect/runs-later.ts';
import { findWorktree } from '../../../code/worktrees/read.ts';
import { filesOf } from '../../../text/patch.ts';
import type { TurnNeeds } from '../live/needs.ts';
import { getDiff, keptSession } from './read.ts';

/** The files of what `getDiff` answers, those first that have something run later. */
export const getDiffFiles = async (
  service: TurnNeeds,
  caseId: string,
  id: string,
  since?: 'base' | 'approval',
): Promise<DiffFile[]> => {
  const { session } = await keptSession(service, caseId, id);
  const [patch, whole] = await Promise.all([
    getDiff(service, caseId, id, since),
    getDiff(service, caseId, id),
  ]);
  const worktree = findWorktree(service.store, caseId);
  const git = worktree === undefined ? undefined : service.git.at(worktree);
  const { base_commit } = session;
  const later = await runsLater(whole.toString('utf8'), { git, base_commit });
  const runsOf = new Map(later.map(({ path, runs }) => [path, runs]));
  const files = filesOf(patch.toString('utf8')).map(
    ({ path, from = null, kind, added, removed }) => ({
      ...{ path, from, kind, added, removed },
      runs: runsOf.get(path) ?? [],
    }),
  );
  return files.toSorted(
    (one, other) => Number(other.runs.length > 0) - Number(one.runs.length > 0),
  );
};
