const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long after each attempt that failed the next one comes, in milliseconds; after the last it is kept as failed. */
export const RETRIES: readonly number[] = [
  SECOND,
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  HOUR,
  6 * HOUR,
  24 * HOUR,
];

const JITTER = 0.1;

/** When to try again after `attempt` attempts; undefined: no more. A tenth more or less, so that not all come at once. */
export const nextAttemptAt = (
  schedule: readonly number[],
  attempt: number,
  now: Date,
  random = Math.random(),
): Date | undefined => {
  const delay = schedule[attempt - 1];
  if (delay === undefined) return undefined;
  return new Date(now.getTime() + delay * (1 - JITTER + 2 * JITTER * random));
};
