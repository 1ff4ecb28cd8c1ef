import { setImmediate as nextTurn } from 'node:timers/promises';

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
