import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../base/errors.ts';

const TRIES = 5;

/** Repeats an attempt until it returns neither false nor undefined; undefined after five tries. Never nest attempts. */
export const repeat = async <T>(
  attempt: (isLast: boolean) => Promise<T | false | undefined>,
  pauseMs?: number,
): Promise<T | undefined> => {
  for (let left = TRIES; left > 0; left -= 1) {
    const done = await attempt(left === 1);
    if (done !== false && done !== undefined) return done;
    if (pauseMs !== undefined) await delay(pauseMs);
  }
  return undefined;
};

/** Like `repeat`, for a write that fails if the file changed since it was read. Throws `file_busy` after the last try. */
export const untilWritten = async <T>(
  file: string,
  attempt: () => Promise<T | false | undefined>,
): Promise<T> => {
  const done = await repeat(attempt);
  if (done !== undefined) return done;
  throw new StoreError('file_busy', `${file} kept changing while it was being written. Try again`);
};
