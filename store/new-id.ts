import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { idOfText } from './names.ts';

const calls = new AsyncLocalStorage<{ seed: string; count: number }>();

/**
 * An id for something new. In a call that may have been made before, of which nobody knows what came of it, the same one
 * as then: whoever finds what has it answers that.
 */
export const newId = (): string => {
  const call = calls.getStore();
  if (call === undefined) return randomUUID();
  call.count += 1;
  return idOfText(`${call.seed} ${call.count}`);
};

/** Runs a call whose new ids follow from a seed. */
export const withIdsOf = <T>(seed: string, work: () => T): T => calls.run({ seed, count: 0 }, work);
