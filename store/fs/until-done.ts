import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../base/errors.ts';

const TRIES = 5;

/** Repeats an attempt that answers false or undefined; undefined when the last one did. Attempts are never nested. */
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

/** The same where the file changed since it was read; `file_busy`, which names the file, when it never holds still. */
export const untilDone = async <T>(
  file: string,
  attempt: () => Promise<T | false | undefined>,
): Promise<T> => {
  const done = await repeat(attempt);
  if (done !== undefined) return done;
  throw new StoreError(
    'file_busy',
    `${file} changed again and again while it was written; try again`,
  );
};
