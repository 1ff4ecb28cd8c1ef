import { meantBy } from '../base/suggest.ts';
import { positionOfPath } from '../front-matter/complaints.ts';
import type { FrontMatter } from '../front-matter/front-matter.ts';
import { Problem } from '../front-matter/problem.ts';

/** The parts of a JSON schema that name keys. */
interface Keys {
  type?: unknown;
  properties?: object;
  patternProperties?: object;
  anyOf?: readonly Keys[];
}

/** The unknown keys of a record, which have no effect, each with the closest known key. */
export const unknownKeys = (source: FrontMatter, schema: Keys): Problem[] =>
  unknownIn(schema, source.data, []).map(({ path, known }) => {
    const meant = meantBy(path.at(-1) ?? '', known);
    const message = `${path.join('.')} is not a setting and has no effect${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
    return new Problem('unknown_setting', message, positionOfPath(source, path));
  });

interface Unknown {
  path: string[];
  /** The known keys at that level. */
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
