/**
 * Spaces out what may come at `perSecond` on average and `burst` at once. Returns how many milliseconds the next one has to
 * wait; `cost` is how many it counts for.
 */
export const createPace = (perSecond: number, burst: number): ((cost?: number) => number) => {
  const [each, ahead] = [1000 / perSecond, (burst * 1000) / perSecond];
  let due = 0;
  return (cost = 1) => {
    const now = performance.now();
    const wait = Math.max(0, due - now - ahead);
    due = Math.max(due, now) + cost * each;
    return wait;
  };
};
export type Pace = ReturnType<typeof createPace>;

/** Work of which at most `most` pieces run at once. The others wait in their order. */
export const createSlots = (most: number) => {
  const waiting: (() => void)[] = [];
  let free = most;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
};
export type Slots = ReturnType<typeof createSlots>;
