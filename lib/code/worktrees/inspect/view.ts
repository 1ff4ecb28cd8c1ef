import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { Store } from '../../../../store/store.ts';
import type { Launchable } from '../../../agents/launch.ts';
import { otherWorktrees } from '../read.ts';
import type { OpenTurn } from '../turn/open.ts';

interface May {
  phase: Launchable['phase'];
  /** What it has of git to commit in, branch and the like; without it the repository is only seen. */
  git?: OpenTurn['view'] | undefined;
}

/** What a program in a worktree sees and may write: nothing of `.dossier/`, and nothing of other Work items' worktrees. */
export const viewOf = (
  store: Store,
  worktree: WorktreeRecord,
  { phase, git = seenOnly(worktree) }: May,
): Pick<Launchable, 'cwd' | 'phase' | 'writable' | 'kept' | 'binds' | 'hidden'> => ({
  cwd: worktree.path,
  phase,
  writable: git.writable,
  // The main checkout, too: it may lie in the home directory, of which else nothing is shown.
  kept: [worktree.repository, ...git.kept],
  ...(git.binds && { binds: git.binds }),
  hidden: [store.layout.dossier, ...otherWorktrees(store, worktree.case_id)],
});

const seenOnly = ({ common_dir }: WorktreeRecord): OpenTurn['view'] => ({
  writable: [],
  kept: [common_dir],
});
