import { isDeepStrictEqual } from 'node:util';
import { FIELDS, type FieldName, type FieldSync } from '../../../store/records/sync.ts';
import { type Fields, withPlainEnds } from './issue-fields.ts';

/** What is compared: as it was last synced, if it ever was, as it is here, and as it is on the host. */
export interface Sides {
  base: Fields | undefined;
  here: Fields;
  host: Fields;
}

export type Preference = 'local' | 'remote';

/**
 * A three-way merge, field by field; what is the same everywhere is left out. What changed here stays, whatever happened
 * on the host; a field that changed on both is a conflict, and stays as it is here, unless the operator prefers a side.
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
  // Without a common ancestor nobody can say who changed it; but nothing is no change of anybody's.
  if (base === undefined ? isBlank(here[field]) : isHeld(base, here)) return 'taken';
  if (base !== undefined && isHeld(base, host)) return 'kept';
  return prefer === undefined ? 'conflict' : 'settled';
};

const isBlank = (value: Fields[FieldName]): boolean => value === null || value.length === 0;

const isSame = (field: FieldName, a: Fields, b: Fields): boolean =>
  isDeepStrictEqual(comparable(a[field]), comparable(b[field]));

// Labels and assignees are sets, and line ends are no change.
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

/** The Work item after a merge: what was taken, or settled for the host, is the host's. */
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
