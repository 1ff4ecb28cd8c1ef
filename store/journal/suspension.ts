import { StoreError } from '../base/errors.ts';

/** Longer than a busy event loop, and much shorter than the time after which another daemon takes the workspace over. */
const GAP_MS = 3000;
const TICK_MS = 1000;
/** Within this time the workspace lock is checked again. */
const DOUBT_MS = 10_000;

const TAKEN_OVER =
  'Another daemon wrote the journal while this process was suspended. Nothing was written';

/**
 * Detects that this process was suspended, by SIGSTOP or while the machine slept: another daemon may have taken the workspace
 * over, which this one learns some moments after it resumes.
 */
export const detectSuspension = (isUnmodified: () => boolean) => {
  let last = performance.now();
  let until = 0;
  const look = (): number => {
    const now = performance.now();
    if (now - last > GAP_MS) until = now + DOUBT_MS;
    last = now;
    return now;
  };
  const timer = setInterval(look, TICK_MS).unref();
  return {
    /** Throws `read_only` if the process was suspended just before and another process wrote the journal. */
    assertOurs: (): void => {
      if (look() < until && !isUnmodified()) throw new StoreError('read_only', TAKEN_OVER);
    },
    close: (): void => clearInterval(timer),
  };
};
