/** A program of the daemon's, by what its processes are known. */
export interface NewRun {
  /** In the environment of each of its processes. */
  marker: string;
  /** A directory that is this run's alone. */
  dir?: string;
  /** Whether it has the machine's loopback, and with it the way to the API. */
  loopback: boolean;
  /** Whether a sandbox keeps it from the workspace's files. */
  sandboxed: boolean;
}

export interface LiveRun extends NewRun {
  /** Milliseconds since the epoch. */
  readonly started_at: number;
}

/** Every program that the daemon started for a provider, a set-up, a language server, a probe or a try-out. */
export interface Runs {
  /** One entry a program, so one marker may be there twice. */
  readonly live: ReadonlySet<LiveRun>;
  /** Puts a program in before it is started. What it answers takes it out: once nothing of it is alive. */
  enter(run: NewRun): () => void;
  /**
   * Calls `heard` whenever one was put in, before it is started, and whenever one was taken out. Where it throws of one
   * that was put in, that one does not start.
   */
  follow(heard: () => void): void;
}

/** The table of what runs. In memory: a restarted daemon begins with an empty one. */
export const createRuns = (): Runs => {
  const live = new Set<LiveRun>();
  const followers: (() => void)[] = [];
  const changed = (): void => {
    for (const heard of followers) heard();
  };
  return {
    live,
    enter: (run) => {
      const entry = { ...run, started_at: Date.now() };
      const leave = (): void => {
        if (live.delete(entry)) changed();
      };
      live.add(entry);
      try {
        changed();
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
    follow: (heard) => {
      followers.push(heard);
    },
  };
};
