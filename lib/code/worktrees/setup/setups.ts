import type { WorktreeRecord } from '../../../../store/records/worktree.ts';

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
