import { randomUUID } from 'node:crypto';
import { createCallContext } from './call-context.ts';
import { idOfText } from './names.ts';

/** A request with an idempotency key. */
export interface IdempotentCall {
  /** The same for each repetition of the request. */
  seed: string;
  /** An earlier attempt was cut off: what the request creates may exist. */
  again: boolean;
}

const calls = createCallContext<IdempotentCall & { count: number }>();

/** An id for a new record: random, or, in a request with an idempotency key, the same in each repetition. */
export const newId = (): string => {
  const call = calls.get();
  if (call === undefined) return randomUUID();
  call.count += 1;
  return idOfText(`${call.seed} ${call.count}`);
};

/** Runs a request whose new ids are derived from its seed. */
export const withSeededIds = <T>(call: IdempotentCall, work: () => Promise<T>): Promise<T> =>
  calls.run({ ...call, count: 0 }, work);

/** Whether an earlier attempt of this request was cut off: it then returns existing records as if it had just created them. */
export const isRepeatedCall = (): boolean => calls.get()?.again === true;
