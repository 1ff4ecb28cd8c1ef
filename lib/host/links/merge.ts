import { isDeepStrictEqual } from 'node:util';
import { FIELDS, type FieldName, type FieldSync } from '../../../store/records/sync.ts';
import { type Fields, withPlainEnds } from './issue-fields.ts';

/** The three sides of a merge: the last sync, if there was one, the Work item, and the host. */
export interface Sides {
  base: Fields | undefined;
  here: Fields;
  host: Fields;
}

export type Preference = 'local' | 'remote';

/**
 * Merges three ways, field by field; equal fields are left out. A change here stays. A field that changed on both sides
 * is a conflict and keeps the value here, unless the operator prefers a side.
 */
export const mergeFields = (sides: Sides, prefer?: Preference): FieldSync[] =>
  FIELDS.flatMap((field) => {
    const outcome = outcomeOf(field, sides, prefer);
    return outcome === undefined ? [] : [entryOf(field, outcome, sides)];
  });

const outcomeOf = (
  field: FieldName,
  { base, here, host }: Sides,
  prefer: Preference | undefined,
): FieldSync['outcome'] | undefined => {
  const isHeld = (a: Fields, b: Fields): boolean => isSame(field, a, b);
  if (isHeld(here, host)) return base !== undefined && !isHeld(base, host) ? 'same' : undefined;
  // Without a common ancestor the author of a difference is unknown, but an empty field is not a change.
  if (base === undefined ? isBlank(here[field]) : isHeld(base, here)) return 'taken';
  if (base !== undefined && isHeld(base, host)) return 'kept';
  return prefer === undefined ? 'conflict' : 'settled';
};

const isBlank = (value: Fields[FieldName]): boolean => value === null || value.length === 0;

const isSame = (field: FieldName, a: Fields, b: Fields): boolean =>
  isDeepStrictEqual(comparable(a[field]), comparable(b[field]));

// Labels and assignees are sets, and line endings do not count as changes.
const comparable = (value: Fields[FieldName]): unknown => {
  if (typeof value === 'string') return withPlainEnds(value);
  return value === null ? null : [...new Set(value)].toSorted();
};

const entryOf = (
  field: FieldName,
  outcome: FieldSync['outcome'],
  { base, here, host }: Sides,
): FieldSync => ({
  field,
  outcome,
  ...(base !== undefined && { base: plain(base[field]) }),
  here: plain(here[field]),
  host: plain(host[field]),
});

const plain = (value: Fields[FieldName]): string | string[] | null =>
  value === null || typeof value === 'string' ? value : [...value];

/** The fields after a merge: those taken, or settled for the host, have the host's value. */
export const mergedFields = (
  { here, host }: Sides,
  found: readonly FieldSync[],
  prefer?: Preference,
): Fields => {
  const merged: Record<string, unknown> = { ...here };
  for (const { field, outcome } of found)
    if (outcome === 'taken' || (outcome === 'settled' && prefer === 'remote'))
      merged[field] = host[field];
  return merged as unknown as Fields;
};
