export interface HintPace {
  /** From the first hint until it is looked at, in milliseconds. */
  settle_ms: number;
  /** How long a hint waits for git to finish. */
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

/**
 * Collects hints until they settle, so that one save, or one checkout, is looked at once. While git is busy each path
 * waits, but no longer than `git_ms`: it may have died and left its lock.
 */
export const collectHints = (pace: HintPace, { busy, settled, overflowed }: HintEvents) => {
  // Each path with the time of its first hint.
  const dirty = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let burstTimer: NodeJS.Timeout | undefined;
  let count = 0;
  let last = 0;

  const flush = (): void => {
    const until = busy() ? performance.now() - pace.git_ms : Number.POSITIVE_INFINITY;
    const ripe = [...dirty].flatMap(([dir, at]) => (at <= until ? [dir] : []));
    for (const dir of ripe) dirty.delete(dir);
    timer = dirty.size === 0 ? undefined : setTimeout(flush, pace.settle_ms);
    if (timer === undefined) count = 0;
    if (ripe.length > 0) settled(ripe);
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
    /** Some hints were lost: everything is looked at once the burst is over. */
    lost,
    /** When the last hint came, as performance.now() tells. */
    last: (): number => last,
    close: (): void => {
      for (const each of [timer, burstTimer]) clearTimeout(each);
    },
  };
};
