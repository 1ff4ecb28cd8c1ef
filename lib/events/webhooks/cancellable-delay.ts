import { setTimeout as delay } from 'node:timers/promises';

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
  let bell = new AbortController();
  return {
    wait: async (leftMs) => {
      bell = new AbortController();
      const { signal } = bell;
      for (let left = leftMs(); left > 0 && !signal.aborted; left = leftMs())
        await delay(Math.min(left, LOOK_MS), undefined, { signal }).catch(() => undefined);
    },
    ring: () => bell.abort(),
  };
};
