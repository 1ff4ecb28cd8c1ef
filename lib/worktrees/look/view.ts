import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { Launchable } from '../../providers/launch.ts';
import type { Service } from '../../service.ts';
import { sharedPlaces } from '../../tools/git/shared-places.ts';
import { otherWorktrees } from '../read.ts';

interface May {
  phase: Launchable['phase'];
  /** Commit, branch and the like; else the repository is only seen. */
  mayCommit: boolean;
}

/** What a program in a worktree sees and may write: nothing of `.dossier/`, and nothing of other Work items' worktrees. */
export const viewOf = (
  service: Service,
  worktree: WorktreeRecord,
  { phase, mayCommit }: May,
): Pick<Launchable, 'cwd' | 'phase' | 'writable' | 'kept' | 'hidden'> => ({
  cwd: worktree.path,
  phase,
  ...seenOf(worktree, mayCommit),
  hidden: [service.store.layout.dossier, ...otherWorktrees(service, worktree.case_id)],
});

// The main checkout, too: it may lie in the home directory, of which else nothing is shown.
const seenOf = (worktree: WorktreeRecord, mayCommit: boolean) => {
  const { writable, kept } = mayCommit
    ? sharedPlaces(worktree)
    : { writable: [], kept: [worktree.common_dir] };
  return { writable, kept: [worktree.repository, ...kept] };
};
