import assert from 'node:assert/strict';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';

// At first soon, then less often: a look takes time of what is waited for.
const SOONEST_MS = 5;
const LATEST_MS = 80;
/** How long a test waits for what should come: long, as a machine may have other work. */
export const GIVE_UP_MS = 120_000;

/** Tries until what is asserted holds, and answers its value; after two minutes the last assertion fails. */
export const eventually = async <T>(
  attempt: () => T | Promise<T>,
  give_up_ms = GIVE_UP_MS,
): Promise<T> => {
  const end = Date.now() + give_up_ms;
  for (let pause = SOONEST_MS; ; pause = Math.min(2 * pause, LATEST_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await delay(pause);
  }
};

/** The same for a condition. */
export const until = (holds: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(async () => assert.ok(await holds(), `It never held: ${holds}`));

/** The same in each turn of the event loop, for what lasts only a moment. */
export const untilSoon = async (holds: () => boolean): Promise<void> => {
  const end = Date.now() + GIVE_UP_MS;
  while (!holds()) {
    assert.ok(Date.now() < end, `It never held: ${holds}`);
    await setImmediate();
  }
};
