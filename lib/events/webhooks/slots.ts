export type Slots = <T>(work: () => Promise<T>) => Promise<T>;

/** At most `count` of what is given run at once; the others wait, first come first served. */
export const createSlots = (count: number): Slots => {
  const waiting: (() => void)[] = [];
  let free = count;
  const enter = async (): Promise<void> => {
    if (free === 0) return new Promise((resolve) => waiting.push(resolve));
    free -= 1;
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async (work) => {
    await enter();
    try {
      return await work();
    } finally {
      leave();
    }
  };
};
