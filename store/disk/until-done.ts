import { StoreError } from '../errors.ts';

const TRIES = 5;

/**
 * Repeats an attempt that answers false or undefined when the file changed since it was read; `file_busy`, which names the
 * file, when it never holds still.
 */
export const untilDone = async <T>(
  file: string,
  attempt: () => Promise<T | false | undefined>,
): Promise<T> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const done = await attempt();
    if (done !== false && done !== undefined) return done;
  }
  throw new StoreError(
    'file_busy',
    `${file} changed again and again while it was written; try again`,
  );
};
