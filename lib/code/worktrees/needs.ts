import type { WithStore } from '../../../store/store.ts';
import type { WithConfig } from '../../config.ts';
import type { WithLog } from '../../log.ts';
import type { WithNetwork } from '../../sandbox/egress/networks.ts';
import type { WithSandbox } from '../../sandbox/sandbox.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import type { WithRuns } from '../../tools/process/runs.ts';
import type { WithLeaving } from './leaving.ts';
import type { WithLive } from './live.ts';
import type { WithSetups } from './setup/setups.ts';

/** What most of this room's work is given. */
export type WorktreeNeeds = WithConfig &
  WithLive &
  WithGit &
  WithLeaving &
  WithLog &
  WithNetwork &
  WithRuns &
  WithSandbox &
  WithSetups &
  WithStore;

/** For what looks at worktrees, and sets up or removes none. */
export type GitNeeds = WithGit & WithStore;
