import { setTimeout as delay } from 'node:timers/promises';

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
