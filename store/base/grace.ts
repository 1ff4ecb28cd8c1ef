/** How long a file or directory may be missing or half written before that counts, in milliseconds. */
export const GRACE_MS = 250;

/** Whether the grace period that started then (monotonic clock) still runs. */
export const isInGrace = (since: number): boolean => performance.now() - since < GRACE_MS;
