import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Reads, or does, something once for all who ask at a time: whoever asks before a reading begins is given it. One that goes on already is too
 * old for who asks now, so that nobody is ever told what was so before they asked.
 */
export const sharedRead = <T>(read: () => Promise<T>): (() => Promise<T>) => {
  let goingOn: Promise<unknown> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const reading = read();
    goingOn = reading;
    const end = () => {
      if (goingOn === reading) goingOn = undefined;
    };
    reading.then(end, end);
    return reading;
  };
  return () => {
    next ??= goingOn === undefined ? Promise.resolve().then(begin) : goingOn.then(begin, begin);
    return next;
  };
};

const SLICE_MS = 4;

/** Does this for each of many. It gives way to requests every few milliseconds. */
export const inSlices = async <T>(all: Iterable<T>, work: (one: T) => void): Promise<void> => {
  let since = performance.now();
  for (const one of all) {
    work(one);
    if (performance.now() - since <= SLICE_MS) continue;
    await nextTurn();
    since = performance.now();
  }
};

/** Where readers wait for the next event: a place each, whatever there is to come. */
export interface WaitingRoom {
  wake(): void;
  /** Resolves when somebody wakes all who wait, or `signal` aborts. */
  wait(signal: AbortSignal): Promise<void>;
}

export const createWaitingRoom = (): WaitingRoom => {
  const waiting = new Set<() => void>();
  return {
    wake: () => {
      for (const leave of [...waiting]) leave();
    },
    wait: (signal) =>
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

/** True when `promise` settles, either way, within `ms` milliseconds. The timer never outlives the answer. */
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
