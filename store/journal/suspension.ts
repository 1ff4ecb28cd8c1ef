import { StoreError } from '../base/errors.ts';

/** Longer than a busy turn of the event loop, and far less than after what another daemon may take the workspace over. */
const GAP_MS = 3000;
const TICK_MS = 1000;
/** Within that the lock on the workspace was looked at. */
const DOUBT_MS = 10_000;

const TAKEN_OVER =
  'Another daemon wrote the journal while this one stood still. Nothing was written';

/**
 * Notices that this process stood still, as by SIGSTOP or while the machine slept: another daemon may have taken the workspace
 * over meanwhile, of which this one hears some moments after it goes on.
 */
export const noticeSuspension = (isAsLeft: () => boolean) => {
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
    /** For a while after it went on: throws `read_only` where another process wrote the journal. */
    assertOurs: (): void => {
      if (look() < until && !isAsLeft()) throw new StoreError('read_only', TAKEN_OVER);
    },
    close: (): void => clearInterval(timer),
  };
};
