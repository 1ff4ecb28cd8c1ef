import { isDeepStrictEqual } from 'node:util';
import { isScalar, isSeq, type Pair, type Scalar, stringify, type YAMLMap } from 'yaml';
import { orElse } from '../../base/or-else.ts';
import { StoreError } from '../errors.ts';
import { type FrontMatter, joinFrontMatter, mapOf, parseFrontMatter } from './front-matter.ts';

export type MatterChanges = Record<string, unknown>;

export interface TextCut {
  from: number;
  to: number;
  text: string;
}

/**
 * The file with some front-matter values changed (`undefined` removes a key) and every other byte as it was: comments,
 * key order, quoting, unknown keys, line ends and body. The result is parsed and compared before it is answered.
 */
export const spliceFrontMatter = (source: FrontMatter, changes: MatterChanges): string => {
  const differing = Object.entries(changes).filter(
    ([key, value]) => !isDeepStrictEqual(source.data[key], value),
  );
  if (differing.length === 0) return joinFrontMatter(source);
  const expected = expectedData(source, changes);
  const result = [bySplice, byDocument]
    .map((way) => joinFrontMatter({ ...source, yaml: way(source, differing) }))
    .find((text) => holdsValues(text, expected, source.body));
  if (result === undefined)
    throw new StoreError(
      'unreadable_record',
      'The front matter cannot be changed safely; edit it by hand',
    );
  return result;
};

/** The front matter with one more element in a list; every other byte stays where the list has a line an element. */
export const appendToList = (source: FrontMatter, key: string, element: unknown): string => {
  const before = Array.isArray(source.data[key]) ? source.data[key] : [];
  const list = [...before, element];
  const expected = { ...source.data, [key]: list };
  const yaml = [
    () => afterLast(source, key, element),
    () => bySplice(source, [[key, list]]),
    () => byDocument(source, [[key, list]]),
  ]
    .map((way) => way())
    .find((text) => holdsValues(joinFrontMatter({ ...source, yaml: text }), expected, source.body));
  if (yaml !== undefined) return yaml;
  throw new StoreError(
    'unreadable_record',
    `The list ${key} cannot be added to safely; edit it by hand`,
  );
};

const afterLast = (source: FrontMatter, key: string, element: unknown): string => {
  const { yaml } = source;
  const list = pairOf(mapOf(source.document), key)?.value as unknown;
  if (!isSeq(list) || list.flow === true || list.items.length === 0) return yaml;
  const [start = 0, end = 0] = list.range ?? [];
  const indent = ' '.repeat(start - yaml.lastIndexOf('\n', start - 1) - 1);
  const lines = stringify([element], YAML_STYLE).replaceAll(/^(?=.)/gm, indent);
  const at = yaml[end - 1] === '\n' ? end : yaml.indexOf('\n', end) + 1;
  return yaml.slice(0, at) + inLines(source, lines) + yaml.slice(at);
};

/** A new record file: one key a line, in the order given, then the body. */
export const renderFrontMatter = (data: Record<string, unknown>, body: string): string => {
  const kept = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
  return `---\n${stringify(kept, YAML_STYLE)}---\n${body}`;
};

export const YAML_STYLE = { lineWidth: 0, schema: 'core', version: '1.2' } as const;

const expectedData = (source: FrontMatter, changes: MatterChanges): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries({ ...source.data, ...changes }).filter(([, value]) => value !== undefined),
  );

export const holdsValues = (
  text: string,
  expected: Record<string, unknown>,
  body: string,
): boolean => {
  const again = orElse(() => parseFrontMatter(text), undefined);
  return again?.body === body && isDeepStrictEqual(again.data, expected);
};

const bySplice = (source: FrontMatter, changes: [string, unknown][]): string => {
  const map = mapOf(source.document);
  const cuts = changes.map(([key, value]) => cutFor(source, pairOf(map, key), key, value));
  return applyCuts(source.yaml, cuts);
};

export const applyCuts = (text: string, cuts: TextCut[]): string =>
  cuts
    // From the back, so that positions stay true; what is added at one place keeps its order.
    .toReversed()
    .toSorted((a, b) => b.from - a.from)
    .reduce(
      (result, { from, to, text: insert }) => result.slice(0, from) + insert + result.slice(to),
      text,
    );

export type FoundPair = Pair<Scalar, Scalar | null> | undefined;

export const pairOf = (map: YAMLMap, key: string): FoundPair =>
  map.items.find((pair) => isScalar(pair.key) && pair.key.value === key) as FoundPair;

const cutFor = (source: FrontMatter, pair: FoundPair, key: string, value: unknown): TextCut => {
  const { yaml } = source;
  if (pair === undefined)
    return {
      from: yaml.length,
      to: yaml.length,
      text: inLines(source, appended(yaml, key, value)),
    };
  if (value === undefined) return wholePair(yaml, pair, '');
  if (isInline(yaml, pair, value)) return inPlace(pair, value);
  return wholePair(yaml, pair, inLines(source, stringify({ [key]: value }, YAML_STYLE)));
};

// A value on the key's own line is replaced alone, so that a comment behind it stays.
export const isInline = (yaml: string, pair: NonNullable<FoundPair>, value: unknown): boolean => {
  const range = pair.value?.range;
  if (!isScalar(pair.value) || range == null || !isShort(value)) return false;
  return !yaml.slice(range[0], range[1]).includes('\n');
};

const isShort = (value: unknown): boolean =>
  value === null ||
  ['boolean', 'number'].includes(typeof value) ||
  (typeof value === 'string' && !value.includes('\n'));

export const inPlace = (pair: NonNullable<FoundPair>, value: unknown): TextCut => {
  const [from = 0, to = 0] = pair.value?.range ?? [];
  const text = stringify(value, YAML_STYLE).trimEnd();
  // `key:` without a value has an empty range right behind the colon.
  return { from, to, text: from === to ? ` ${text}` : text };
};

export const wholePair = (yaml: string, pair: NonNullable<FoundPair>, text: string): TextCut => {
  const from = pair.key.range?.[0] ?? 0;
  const end = pair.value?.range?.[2] ?? pair.key.range?.[2] ?? from;
  const lineEnd = yaml[end - 1] === '\n' ? end : yaml.indexOf('\n', end) + 1;
  return { from, to: lineEnd === 0 ? yaml.length : lineEnd, text };
};

const appended = (yaml: string, key: string, value: unknown): string => {
  const line = stringify({ [key]: value }, YAML_STYLE);
  return yaml === '' || yaml.endsWith('\n') ? line : `\n${line}`;
};

export const inLines = (source: FrontMatter, text: string): string =>
  source.eol === '\r\n' ? text.replaceAll('\n', '\r\n') : text;

// The rare shapes (a flow mapping, an anchor on a value): the document is printed anew; comments and order stay.
const byDocument = (source: FrontMatter, changes: [string, unknown][]): string => {
  const document = source.document.clone();
  for (const [key, value] of changes) {
    if (value === undefined) document.delete(key);
    else document.set(key, value);
  }
  return inLines(source, document.toString({ lineWidth: 0 }));
};
