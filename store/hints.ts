export interface HintPace {
  /** From the first hint until it is looked at, in milliseconds. */
  settle_ms: number;
  /** How long to wait for git to finish, counted from the last hint. */
  git_ms: number;
  /** So many hints without a pause mean that some were lost. */
  burst: number;
  after_burst_ms: number;
}

interface HintEvents {
  /** git is in the middle of changing many files. */
  busy: () => boolean;
  settled: (dirs: string[]) => void;
  overflowed: () => void;
}

/** Collects hints until they settle, so that one save, or one checkout, is looked at once. */
export const collectHints = (pace: HintPace, { busy, settled, overflowed }: HintEvents) => {
  const dirty = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let burstTimer: NodeJS.Timeout | undefined;
  let count = 0;
  let last = 0;

  const flush = (): void => {
    if (busy() && performance.now() - last < pace.git_ms) {
      timer = setTimeout(flush, pace.settle_ms);
      return;
    }
    timer = undefined;
    count = 0;
    settled([...dirty.keys()]);
    dirty.clear();
  };

  const lost = (): void => {
    clearTimeout(burstTimer);
    burstTimer = setTimeout(overflowed, pace.after_burst_ms);
  };

  return {
    hint: (dir: string): void => {
      dirty.add(dir);
      last = performance.now();
      count += 1;
      if (count > pace.burst) lost();
      timer ??= setTimeout(flush, pace.settle_ms);
    },
    /** Some hints were lost: everything is looked at once the burst is over. */
    lost,
    close: (): void => {
      for (const each of [timer, burstTimer]) clearTimeout(each);
    },
  };
};
