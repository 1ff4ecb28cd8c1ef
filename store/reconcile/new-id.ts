import { randomUUID } from 'node:crypto';
import { createCallContext } from '../base/call-context.ts';
import { idOfText } from '../base/names.ts';

/** A call that is made once, however often it is sent. */
export interface MadeOnce {
  /** The same each time. */
  seed: string;
  /** It was begun before, and nobody knows what came of it: what it makes may be there. */
  again: boolean;
}

const calls = createCallContext<MadeOnce & { count: number }>();

/**
 * An id for something new. In a call that may have been made before, of which nobody knows what came of it, the same one
 * as then: whoever finds what has it answers that.
 */
export const newId = (): string => {
  const call = calls.get();
  if (call === undefined) return randomUUID();
  call.count += 1;
  return idOfText(`${call.seed} ${call.count}`);
};

/** Runs a call whose new ids follow from a seed. */
export const withIdsOf = <T>(call: MadeOnce, work: () => Promise<T>): Promise<T> =>
  calls.run({ ...call, count: 0 }, work);

/** Whether this call was cut off before: it answers what is there as if it had just made it. */
export const isMadeAgain = (): boolean => calls.get()?.again === true;
