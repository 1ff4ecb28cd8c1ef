export interface CancellableDelay {
  /**
   * Resolves when `leftMs` says that nothing is left, or when it rings. Asked again every minute: a machine that sleeps
   * counts no time.
   */
  wait(leftMs: () => number): Promise<void>;
  /** Ends the wait now. */
  ring(): void;
}

const LOOK_MS = 60_000;

/** A wait that can be cut short. One at a time. */
export const createCancellableDelay = (): CancellableDelay => {
  let rung = false;
  let wake = (): void => undefined;
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, LOOK_MS));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    wait: async (leftMs) => {
      rung = false;
      for (let left = leftMs(); left > 0 && !rung; left = leftMs()) await pause(left);
    },
    ring: () => {
      rung = true;
      wake();
    },
  };
};
