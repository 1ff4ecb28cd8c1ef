import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A value that a call carries through everything it awaits.
 *
 * In Node 20, an AsyncLocalStorage that was used once slows every promise of the process (a third of a small request),
 * so it is disabled while no call carries a value.
 */
export const createCallContext = <T>() => {
  const storage = new AsyncLocalStorage<{ carried: T | undefined } | undefined>();
  let running = 0;
  return {
    /** The value of the current call; undefined outside a call, or after it ended. */
    get: (): T | undefined => storage.getStore()?.carried,
    run: async <R>(carried: T, work: () => Promise<R>): Promise<R> => {
      const call: { carried: T | undefined } = { carried };
      running += 1;
      try {
        return await storage.run(call, work);
      } finally {
        // Background work of the call keeps its context: with Node 24 even after `disable`.
        call.carried = undefined;
        running -= 1;
        if (running === 0) storage.disable();
      }
    },
    /** Runs `work` outside the current call. */
    without: <R>(work: () => R): R => storage.run(undefined, work),
  };
};
