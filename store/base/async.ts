import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Coalesces concurrent reads. Calls made before a read starts share it; calls made while one runs share the next, so no
 * caller gets a result older than its call.
 */
export const coalesceReads = <T>(read: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<unknown> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const reading = read();
    running = reading;
    const end = () => {
      if (running === reading) running = undefined;
    };
    reading.then(end, end);
    return reading;
  };
  return () => {
    next ??= running === undefined ? Promise.resolve().then(begin) : running.then(begin, begin);
    return next;
  };
};

const SLICE_MS = 4;

/** Runs `work` for each item, one after the other; awaits what it returns. Yields to the event loop every few milliseconds. */
export const inSlices = async <T>(all: Iterable<T>, work: (one: T) => unknown): Promise<void> => {
  let since = performance.now();
  for (const one of all) {
    const waits = work(one);
    if (waits !== undefined) await waits;
    if (performance.now() - since <= SLICE_MS) continue;
    await nextTurn();
    since = performance.now();
  }
};

export type Signal = ReturnType<typeof signal>;

/** Something that happens once. */
export const signal = () => {
  let end = (): void => undefined;
  const raised = new Promise<void>((resolve) => {
    end = resolve;
  });
  let isRaised = false;
  return {
    /** Resolves when it happens. */
    raised,
    get isRaised() {
      return isRaised;
    },
    raise: (): void => {
      isRaised = true;
      end();
    },
  };
};

/** Lets any number of readers wait for the next event. */
export const createNotifier = () => {
  const waiting = new Set<() => void>();
  return {
    wake: (): void => {
      for (const leave of [...waiting]) leave();
    },
    /** Resolves at the next `wake`, or when `signal` aborts. */
    wait: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const leave = (): void => {
          waiting.delete(leave);
          signal.removeEventListener('abort', leave);
          resolve();
        };
        if (signal.aborted) return resolve();
        waiting.add(leave);
        signal.addEventListener('abort', leave);
      }),
  };
};

/** Whether `promise` resolves or rejects within `ms` milliseconds. The timer is cleared. */
export const settlesWithin = async (promise: Promise<unknown>, ms: number): Promise<boolean> => {
  const timer = new AbortController();
  const settled = promise.then(
    () => true,
    () => true,
  );
  const late = delay(ms, false, { signal: timer.signal }).catch(() => false);
  const first = await Promise.race([settled, late]);
  timer.abort();
  return first;
};

export type Slots = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs at most `most` calls at once. The others wait in order. */
export const createSlots = (most: number): Slots => {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (work) => {
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

/** Runs `work` on each element, at most `lanes` at once. After an error, waits for running work, then throws the first. */
export const inParallel = async <T>(
  all: Iterable<T>,
  lanes: number,
  work: (each: T) => Promise<void>,
): Promise<void> => {
  const rest = all[Symbol.iterator]();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true && !failed; next = rest.next())
      await work(next.value).catch((error: unknown) => {
        failed = true;
        throw error;
      });
  };
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  const first = ends.find((end) => end.status === 'rejected');
  if (first !== undefined) throw first.reason;
};
