import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { StoredSession } from '../../../store/sessions/sessions.ts';
import type { Transcript } from '../../../store/sessions/transcript.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithConfig } from '../../config.ts';
import type { WithLog } from '../../log.ts';
import type { WithNetwork } from '../../sandbox/egress/networks.ts';
import type { WithSandbox } from '../../sandbox/sandbox.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import type { WithRuns } from '../../tools/process/runs.ts';

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

/** Whoever has programs in directories: ends those in one that is about to be removed. */
export interface WithLeaving {
  readonly leaving: Set<(directory: string) => Promise<void>>;
}

/** The sessions whose agents run, as far as it concerns whoever is about to touch a worktree. */
interface LiveSessions {
  readonly live: ReadonlyMap<string, { readonly run_marker: string }>;
  transcript(kept: StoredSession): Transcript;
}

export interface WithLive {
  readonly engine: LiveSessions;
}

/** The set-up of one worktree, while it goes on. */
export interface RunningSetup {
  /** In the environment of each of its processes. */
  marker: string;
  /** Settles when it has ended, and what came of it is in the worktree's record. */
  done: Promise<WorktreeRecord>;
  /** Ends it; resolves when none of its processes is alive. */
  stop(): Promise<void>;
}

export interface Setups {
  /** By Work item: there is one at a time. */
  readonly running: Map<string, RunningSetup>;
  /** Ends all of them. */
  close(): Promise<void>;
}

export const createSetups = (): Setups => {
  const running = new Map<string, RunningSetup>();
  return {
    running,
    close: async () => {
      await Promise.all([...running.values()].map(({ stop }) => stop()));
    },
  };
};

/** The worktrees that are being set up. */
export interface WithSetups {
  readonly setups: Setups;
}
