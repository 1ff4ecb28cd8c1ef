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

/** The services that most operations on worktrees take. */
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

/** The services of operations that only read worktrees. */
export type GitNeeds = WithGit & WithStore;

/** Callbacks that stop programs in a directory before it is removed, such as language servers. */
export interface WithLeaving {
  readonly leaving: Set<(directory: string) => Promise<void>>;
}

/** The part of the session engine that operations on worktrees use. */
interface LiveSessions {
  readonly live: ReadonlyMap<string, { readonly run_marker: string }>;
  transcript(kept: StoredSession): Transcript;
}

export interface WithLive {
  readonly engine: LiveSessions;
}

/** A setup in progress. */
export interface RunningSetup {
  /** Set in the environment of each of its processes. */
  marker: string;
  /** Settles when the setup has ended and its result is in the worktree's record. */
  done: Promise<WorktreeRecord>;
  /** Stops the setup; resolves when all its processes have ended. */
  stop(): Promise<void>;
}

export interface Setups {
  /** By Work item; one at a time. */
  readonly running: Map<string, RunningSetup>;
  /** Stops all setups. */
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

export interface WithSetups {
  readonly setups: Setups;
}
