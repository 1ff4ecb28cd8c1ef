/**
 * One at a time per key, first come first served. All writes to one Work item go through its turn, so that what was
 * read is still true when it is written.
 */
export interface Turns {
  take<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Whether somebody has a turn at this key, or waits for it. */
  isBusy(key: string): boolean;
  /** Resolves when nobody has a turn at this key. */
  idle(key: string): Promise<void>;
}

/** `left` is called with its key after each turn. */
export const createTurns = (left: (key: string) => void = () => undefined): Turns => {
  const last = new Map<string, Promise<unknown>>();
  return {
    take: (key, work) => {
      const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
      last.set(key, turn);
      const leave = () => {
        if (last.get(key) === turn) last.delete(key);
        left(key);
      };
      turn.then(leave, leave);
      return turn;
    },
    isBusy: (key) => last.has(key),
    idle: async (key) => {
      while (last.has(key)) await last.get(key)?.catch(() => undefined);
    },
  };
};
