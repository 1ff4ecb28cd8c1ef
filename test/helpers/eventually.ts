import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

const LOOK_AGAIN_MS = 20;
const GIVE_UP_MS = 120_000;

/** Tries until what is asserted holds, and answers its value; after two minutes the last assertion fails. */
export const eventually = async <T>(
  attempt: () => T | Promise<T>,
  give_up_ms = GIVE_UP_MS,
): Promise<T> => {
  for (const end = Date.now() + give_up_ms; ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await delay(LOOK_AGAIN_MS);
  }
};

/** The same for a condition. */
export const until = (holds: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(async () => assert.ok(await holds(), `It never held: ${holds}`));
