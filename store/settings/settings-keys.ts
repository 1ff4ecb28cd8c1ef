import { placeOfPath } from '../text/complaints.ts';
import type { FrontMatter } from '../text/front-matter.ts';
import { Problem } from '../text/problem.ts';

/** The part of a JSON schema that names keys. */
interface Keys {
  type?: unknown;
  properties?: object;
  patternProperties?: object;
  anyOf?: readonly Keys[];
}

/** The keys of a record that no schema names, each with the one that was probably meant. They do nothing. */
export const unknownKeys = (source: FrontMatter, schema: Keys): Problem[] =>
  unknownIn(schema, source.data, []).map(({ path, known }) => {
    const meant = meantBy(path.at(-1) ?? '', known);
    const message = `${path.join('.')} is no setting, and does nothing${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
    return new Problem('unknown_setting', message, placeOfPath(source, path));
  });

interface Unknown {
  path: string[];
  /** What is known there. */
  known: string[];
}

const unknownIn = (schema: Keys, value: unknown, path: readonly string[]): Unknown[] => {
  const keys = schema.anyOf?.find(namesKeys) ?? schema;
  if (typeof value !== 'object' || value === null || !namesKeys(keys)) return [];
  const properties = new Map<string, Keys>(Object.entries(keys.properties ?? {}));
  const [any] = Object.values<Keys>({ ...keys.patternProperties });
  return Object.entries(value).flatMap(([key, inner]) => {
    const part = properties.get(key) ?? any;
    const at = [...path, key];
    return part === undefined
      ? [{ path: at, known: [...properties.keys()] }]
      : unknownIn(part, inner, at);
  });
};

const namesKeys = ({ properties, patternProperties }: Keys): boolean =>
  properties !== undefined || patternProperties !== undefined;

/** The known word that a mistyped one is nearest to; undefined where none is near. */
export const meantBy = (word: string, known: readonly string[]): string | undefined => {
  const most = Math.min(3, Math.floor(word.length / 3));
  const [nearest] = known
    .map((name) => ({ name, far: distance(plain(word), plain(name)) }))
    .filter(({ far }) => far <= most)
    .toSorted((a, b) => a.far - b.far);
  return nearest?.name;
};

const plain = (word: string): string => word.toLowerCase().replaceAll('-', '_');

// How many letters have to be put in, left out, changed, or swapped with the next.
const distance = (a: string, b: string): number => {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) row.push(cheapest(rows, row, [a, b], [i, j]));
    rows.push(row);
  }
  return rows.at(-1)?.at(-1) ?? 0;
};

const cheapest = (
  rows: readonly number[][],
  row: readonly number[],
  [a, b]: readonly [string, string],
  [i, j]: readonly [number, number],
): number => {
  const above = rows[i - 1] ?? [];
  const same = a[i - 1] === b[j - 1] ? 0 : 1;
  const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
  return Math.min(
    (above[j] ?? 0) + 1,
    (row[j - 1] ?? 0) + 1,
    (above[j - 1] ?? 0) + same,
    ...(swapped ? [(rows[i - 2]?.[j - 2] ?? 0) + 1] : []),
  );
};
