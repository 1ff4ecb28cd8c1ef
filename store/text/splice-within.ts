import { isDeepStrictEqual } from 'node:util';
import { isMap, isSeq, stringify, type YAMLMap } from 'yaml';
import { StoreError } from '../errors.ts';
import { type FrontMatter, joinFrontMatter, mapOf } from './front-matter.ts';
import {
  applyCuts,
  type FoundPair,
  holdsValues,
  inLines,
  inPlace,
  isInline,
  type MatterChanges,
  pairOf,
  spliceFrontMatter,
  type TextCut,
  wholePair,
  YAML_STYLE,
} from './splice.ts';

/**
 * The file with some values of the mapping at `key` changed (`undefined` removes one), as `spliceFrontMatter` does it at
 * the top: every other byte stays. A mapping that is not there is made, and one that is left empty goes.
 */
export const spliceWithin = (source: FrontMatter, key: string, changes: MatterChanges): string => {
  const before = (source.data[key] ?? {}) as Record<string, unknown>;
  const after = Object.fromEntries(
    Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined),
  );
  const differing = Object.entries(changes).filter(
    ([name, value]) => !isDeepStrictEqual(before[name], value),
  );
  if (differing.length === 0) return joinFrontMatter(source);
  const whole = Object.keys(after).length === 0 ? undefined : after;
  const map = pairOf(mapOf(source.document), key)?.value as unknown;
  if (whole === undefined || !isMap(map) || map.flow === true || map.items.length === 0)
    return spliceFrontMatter(source, { [key]: whole });
  const expected = { ...source.data, [key]: after };
  const result = [byLines, byDocument]
    .map((way) => joinFrontMatter({ ...source, yaml: way(source, { key, map, differing }) }))
    .find((text) => holdsValues(text, expected, source.body));
  if (result !== undefined) return result;
  throw new StoreError(
    'unreadable_record',
    `The settings below ${key} cannot be changed safely; edit them by hand`,
  );
};

interface Within {
  key: string;
  map: YAMLMap;
  differing: [string, unknown][];
}

const byLines = (source: FrontMatter, { map, differing }: Within): string => {
  const cuts = differing.map(([name, value]) => cutFor(source, map, name, value));
  return applyCuts(source.yaml, cuts);
};

const cutFor = (source: FrontMatter, map: YAMLMap, name: string, value: unknown): TextCut => {
  const { yaml } = source;
  const pair = pairOf(map, name);
  const [start = 0, end = 0] = map.range ?? [];
  const column = start - yaml.lastIndexOf('\n', start - 1) - 1;
  const lines = value === undefined ? '' : linesOf(source, { [name]: value }, column);
  if (pair === undefined) return atEnd(yaml, end, lines);
  const inside = value === undefined ? undefined : insideLine(yaml, pair, value);
  if (inside !== undefined) return inside;
  const cut = wholePair(yaml, pair, lines);
  return { ...cut, from: cut.from - column };
};

const linesOf = (source: FrontMatter, pair: object, column: number): string =>
  inLines(source, stringify(pair, YAML_STYLE).replaceAll(/^(?=.)/gm, ' '.repeat(column)));

const atEnd = (yaml: string, end: number, lines: string): TextCut => {
  const from = yaml[end - 1] === '\n' ? end : yaml.indexOf('\n', end) + 1 || yaml.length;
  return { from, to: from, text: yaml[from - 1] === '\n' ? lines : `\n${lines}` };
};

// What stands on the key's own line, a list in brackets too, is replaced alone.
const insideLine = (
  yaml: string,
  pair: NonNullable<FoundPair>,
  value: unknown,
): TextCut | undefined => {
  if (isInline(yaml, pair, value)) return inPlace(pair, value);
  const list = pair.value as unknown;
  if (!Array.isArray(value) || !isSeq(list) || list.flow !== true || list.range == null)
    return undefined;
  const text = stringify(value, { ...YAML_STYLE, collectionStyle: 'flow' }).trimEnd();
  return { from: list.range[0], to: list.range[1], text };
};

const byDocument = (source: FrontMatter, { key, differing }: Within): string => {
  const document = source.document.clone();
  for (const [name, value] of differing) {
    if (value === undefined) document.deleteIn([key, name]);
    else document.setIn([key, name], value);
  }
  return inLines(source, document.toString({ lineWidth: 0 }));
};
