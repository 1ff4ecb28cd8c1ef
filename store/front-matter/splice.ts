import { isDeepStrictEqual } from 'node:util';
import { isMap, isScalar, isSeq, type Pair, type Scalar, stringify, type YAMLMap } from 'yaml';
import { orElse } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { type FrontMatter, joinFrontMatter, mapOf, parseAsYaml } from './front-matter.ts';
import { storable } from './text.ts';

export type MatterChanges = Record<string, unknown>;

/**
 * Changes front-matter values (`undefined` removes a key) and keeps every other byte: comments, key order, quoting, unknown
 * keys, line ends and body. The result is parsed and compared before it is returned.
 */
export const spliceFrontMatter = (source: FrontMatter, changes: MatterChanges): string => {
  const place = { map: mapOf(source.document), end: source.yaml.length, column: 0, path: [] };
  const differing = differingIn(source.data, changes);
  if (differing.length === 0) return joinFrontMatter(source);
  return spliced(source, place, differing, {
    expected: withChanges(source.data, changes),
    refusal: 'The front matter cannot be changed safely; edit it by hand',
  });
};

/** Like `spliceFrontMatter`, within the mapping at `key`, which is created if missing and removed if left empty. */
export const spliceWithin = (source: FrontMatter, key: string, changes: MatterChanges): string => {
  const before = (source.data[key] ?? {}) as Record<string, unknown>;
  const after = withChanges(before, changes);
  const differing = differingIn(before, changes);
  if (differing.length === 0) return joinFrontMatter(source);
  const whole = Object.keys(after).length === 0 ? undefined : after;
  const map = pairOf(mapOf(source.document), key)?.value as unknown;
  if (whole === undefined || !isMap(map) || map.flow === true || map.items.length === 0)
    return spliceFrontMatter(source, { [key]: whole });
  const [start = 0, end = 0] = map.range ?? [];
  const place = { map, end, column: columnOf(source.yaml, start), path: [key] };
  return spliced(source, place, differing, {
    expected: { ...source.data, [key]: after },
    refusal: `The settings below ${key} cannot be changed safely; edit them by hand`,
  });
};

/** The YAML with an element appended to a list. In a block list, every other byte stays. */
export const appendToList = (source: FrontMatter, key: string, element: unknown): string => {
  const before = Array.isArray(source.data[key]) ? source.data[key] : [];
  const list: [string, unknown][] = [[key, [...before, element]]];
  const place = { map: mapOf(source.document), end: source.yaml.length, column: 0, path: [] };
  return firstCorrect(
    source,
    [
      () => afterLast(source, key, element),
      () => byLines(source, place, list),
      () => byDocument(source, place, list),
    ],
    {
      expected: { ...source.data, ...Object.fromEntries(list) },
      refusal: `The list ${key} cannot be added to safely; edit it by hand`,
    },
  );
};

const afterLast = (source: FrontMatter, key: string, element: unknown): string => {
  const { yaml } = source;
  const list = pairOf(mapOf(source.document), key)?.value as unknown;
  if (!isSeq(list) || list.flow === true || list.items.length === 0) return yaml;
  const [start = 0, end = 0] = list.range ?? [];
  const at = nextLine(yaml, end);
  return applyCuts(yaml, [
    { from: at, to: at, text: linesOf(source, [element], columnOf(yaml, start)) },
  ]);
};

/** Renders a new record file: one key per line, in the given order, then the body, which is made storable. */
export const renderFrontMatter = (data: Record<string, unknown>, body: string): string =>
  `---\n${yamlOf(withChanges(data, {}))}---\n${storable(body)}`;

// The library loses lines of only blanks at the start of a block text, so such a text is quoted.
const yamlOf = (value: object): string =>
  stringify(value, { ...YAML_STYLE, blockQuote: !BLANK_START.test(JSON.stringify(value)) });

const BLANK_START = /"(?: |\\[nt])*(?: |\\t)\\n/;
const YAML_STYLE = {
  lineWidth: 0,
  schema: 'core',
  version: '1.2',
  // The library breaks a quoted text wrongly at lines of only blanks.
  doubleQuotedMinMultiLineLength: Number.POSITIVE_INFINITY,
} as const;

const withChanges = (data: MatterChanges, changes: MatterChanges): MatterChanges =>
  Object.fromEntries(
    Object.entries({ ...data, ...changes }).filter(([, value]) => value !== undefined),
  );

const differingIn = (data: MatterChanges, changes: MatterChanges): [string, unknown][] =>
  Object.entries(changes).filter(([key, value]) => !isDeepStrictEqual(data[key], value));

/** A mapping in the front matter: its end, the indentation of its keys, and its path. */
interface Place {
  map: YAMLMap;
  end: number;
  column: number;
  path: readonly string[];
}

interface Expected {
  expected: MatterChanges;
  refusal: string;
}

const spliced = (
  source: FrontMatter,
  place: Place,
  differing: [string, unknown][],
  result: Expected,
): string => {
  const ways = [byLines, byDocument].map((way) => () => way(source, place, differing));
  return joinFrontMatter({ ...source, yaml: firstCorrect(source, ways, result) });
};

const firstCorrect = (
  source: FrontMatter,
  ways: readonly (() => string)[],
  { expected, refusal }: Expected,
): string => {
  for (const way of ways) {
    const yaml = way();
    const again = orElse(() => parseAsYaml(joinFrontMatter({ ...source, yaml })), undefined);
    if (again?.body === source.body && isDeepStrictEqual(again.data, expected)) return yaml;
  }
  throw new StoreError('unreadable_record', refusal);
};

interface TextCut {
  from: number;
  to: number;
  text: string;
}

const byLines = (source: FrontMatter, place: Place, changes: [string, unknown][]): string =>
  applyCuts(
    source.yaml,
    changes.map(([name, value]) => cutFor(source, place, name, value)),
  );

const applyCuts = (text: string, cuts: TextCut[]): string =>
  cuts
    // From the back, so that offsets stay valid. Insertions at one offset keep their order.
    .toReversed()
    .toSorted((a, b) => b.from - a.from)
    .reduce(
      (result, { from, to, text: insert }) => result.slice(0, from) + insert + result.slice(to),
      text,
    );

type FoundPair = Pair<Scalar, Scalar | null>;

const pairOf = (map: YAMLMap, key: string): FoundPair | undefined =>
  map.items.find((pair) => isScalar(pair.key) && pair.key.value === key) as FoundPair | undefined;

const cutFor = (source: FrontMatter, place: Place, name: string, value: unknown): TextCut => {
  const { yaml } = source;
  const { map, end, column } = place;
  const pair = pairOf(map, name);
  const lines = value === undefined ? '' : linesOf(source, { [name]: value }, column);
  if (pair === undefined)
    return { from: nextLine(yaml, end), to: nextLine(yaml, end), text: lines };
  if (isInline(yaml, pair, value)) return inPlace(pair, value);
  return inBrackets(place, pair, value) ?? wholePair(yaml, pair, { lines, column });
};

const linesOf = (source: FrontMatter, what: object, column: number): string =>
  inLines(source, yamlOf(what).replaceAll(/^(?=.)/gm, ' '.repeat(column)));

const columnOf = (yaml: string, at: number): number => at - yaml.lastIndexOf('\n', at - 1) - 1;

const nextLine = (yaml: string, at: number): number =>
  yaml[at - 1] === '\n' ? at : yaml.indexOf('\n', at) + 1 || yaml.length;

// A value on the line of its key is replaced alone, so that a comment after it stays.
const isInline = (yaml: string, pair: FoundPair, value: unknown): boolean => {
  const range = pair.value?.range;
  if (!isScalar(pair.value) || range == null || !isShort(value)) return false;
  return !yaml.slice(range[0], range[1]).includes('\n');
};

const isShort = (value: unknown): boolean =>
  value === null ||
  ['boolean', 'number'].includes(typeof value) ||
  (typeof value === 'string' && !value.includes('\n'));

const inPlace = (pair: FoundPair, value: unknown): TextCut => {
  const [from = 0, to = 0] = pair.value?.range ?? [];
  const text = stringify(value, YAML_STYLE).trimEnd();
  // `key:` without a value has an empty range right after the colon.
  return { from, to, text: from === to ? ` ${text}` : text };
};

// Inside a mapping, a flow list is replaced in place; at the top it becomes a block list.
const inBrackets = ({ path }: Place, pair: FoundPair, value: unknown): TextCut | undefined => {
  const list = pair.value as unknown;
  if (path.length === 0 || !Array.isArray(value)) return undefined;
  if (!isSeq(list) || list.flow !== true || list.range == null) return undefined;
  const text = stringify(value, { ...YAML_STYLE, collectionStyle: 'flow' }).trimEnd();
  return { from: list.range[0], to: list.range[1], text };
};

const wholePair = (
  yaml: string,
  pair: FoundPair,
  { lines, column }: { lines: string; column: number },
): TextCut => {
  const from = pair.key.range?.[0] ?? 0;
  const end = pair.value?.range?.[2] ?? pair.key.range?.[2] ?? from;
  return { from: from - column, to: nextLine(yaml, end), text: lines };
};

const inLines = (source: FrontMatter, text: string): string =>
  source.eol === '\r\n' ? text.replaceAll('\n', '\r\n') : text;

// For rare shapes (a flow mapping, an anchor on a value) the document is printed again; comments and order stay.
const byDocument = (source: FrontMatter, { path }: Place, changes: [string, unknown][]): string => {
  const document = source.document.clone();
  for (const [name, value] of changes) {
    if (value === undefined) document.deleteIn([...path, name]);
    else document.setIn([...path, name], value);
  }
  return inLines(source, document.toString({ lineWidth: 0 }));
};
