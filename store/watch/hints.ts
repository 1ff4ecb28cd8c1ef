export interface HintPace {
  /** The time from the first hint to the comparison, in milliseconds. */
  settle_ms: number;
  /** How long a hint waits for a git that makes no progress, in milliseconds. */
  git_ms: number;
  /** How long it waits for one that does, as a rebase of many commits. */
  long_git_ms: number;
  /** More hints than this without a pause mean that some were lost. */
  burst: number;
  after_burst_ms: number;
}

interface HintEvents {
  /** How long a hint may wait for git at this moment, in milliseconds; 0 while git changes no files. */
  patience: () => number;
  /** With `busy`, git still was when their time was over: it may have died. */
  settled: (dirs: string[], busy: boolean) => void;
  overflowed: () => void;
}

/**
 * Collects hints until they settle, so that one save or checkout causes one comparison. While git is busy, each path waits, but
 * not for ever, because git may have died and left its lock.
 */
export const collectHints = (pace: HintPace, { patience, settled, overflowed }: HintEvents) => {
  // Each path with the time of its first hint.
  const dirty = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let burstTimer: NodeJS.Timeout | undefined;
  let count = 0;
  let last = 0;

  const flush = (): void => {
    const wait_ms = patience();
    const until = performance.now() - wait_ms;
    const ripe = [...dirty].flatMap(([dir, at]) => (at <= until ? [dir] : []));
    for (const dir of ripe) dirty.delete(dir);
    timer = dirty.size === 0 ? undefined : setTimeout(flush, pace.settle_ms);
    if (timer === undefined) count = 0;
    if (ripe.length > 0) settled(ripe, wait_ms > 0);
  };

  const lost = (): void => {
    clearTimeout(burstTimer);
    burstTimer = setTimeout(overflowed, pace.after_burst_ms);
  };

  return {
    hint: (dir: string): void => {
      last = performance.now();
      if (!dirty.has(dir)) dirty.set(dir, last);
      count += 1;
      if (count > pace.burst) lost();
      timer ??= setTimeout(flush, pace.settle_ms);
    },
    /** Some hints were lost: sweeps once the burst has ended. */
    lost,
    /** The time of the last hint, by performance.now(). */
    last: (): number => last,
    close: (): void => {
      for (const each of [timer, burstTimer]) clearTimeout(each);
    },
  };
};

const TICK_MS = 1000;
const SLEPT_MS = 5000;

/** Calls a job at an interval in milliseconds, and at once after the machine slept, which shifts the two clocks. */
export const createInterval = (interval: () => number, job: (slept: boolean) => void) => {
  let drift = Date.now() - performance.now();
  let due = performance.now() + interval();
  const timer = setInterval(() => {
    const before = drift;
    drift = Date.now() - performance.now();
    const slept = Math.abs(drift - before) >= SLEPT_MS;
    if (!slept && performance.now() < due) return;
    due = performance.now() + interval();
    job(slept);
  }, TICK_MS);
  timer.unref();
  return {
    /** Starts the interval again, after it changed. */
    restart: () => {
      due = performance.now() + interval();
    },
    stop: () => clearInterval(timer),
  };
};
