import { sha256 } from '../base/sha256.ts';

/** A value as JSON that is the same however its keys were ordered. What is not there is null. */
export const canonical = (value: unknown): string => JSON.stringify(sorted(value ?? null));

/** The hash of a value: what was looked at is what is trusted. */
export const trustHash = (value: unknown): string => sha256(canonical(value));

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => Number(a > b) - Number(a < b)).map(([k, v]) => [k, sorted(v)]),
  );
};
