import { AsyncLocalStorage } from 'node:async_hooks';

/** What a call carries through all that it awaits. */
export interface CallContext<T> {
  /** What the call carries on whose behalf this runs; undefined where there is none, or where it ended. */
  get(): T | undefined;
  run<R>(carried: T, work: () => Promise<R>): Promise<R>;
  /** Runs what is not the call's own. */
  without<R>(work: () => R): R;
}

/**
 * A context of calls. In Node 20 an AsyncLocalStorage that was used once makes every promise of the process slower, by a
 * third of a small request; this one does so only while a call that carries something runs.
 */
export const createCallContext = <T>(): CallContext<T> => {
  const storage = new AsyncLocalStorage<T | undefined>();
  let running = 0;
  return {
    get: () => storage.getStore(),
    run: async (carried, work) => {
      running += 1;
      try {
        return await storage.run(carried, work);
      } finally {
        running -= 1;
        if (running === 0) storage.disable();
      }
    },
    without: (work) => storage.run(undefined, work),
  };
};
