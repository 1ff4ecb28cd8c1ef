import { isMap, isScalar, isSeq } from 'yaml';
import { ownValue } from '../base/own-value.ts';
import { meantBy } from '../base/suggest.ts';
import { patternError } from '../records/patterns.ts';
import { type FrontMatter, mapOf } from './front-matter.ts';
import { Problem, type TextPosition, together } from './problem.ts';

/** One error of typebox's validator. */
export interface SchemaError {
  keyword: string;
  instancePath: string;
  message: string;
  params: Record<string, unknown>;
}

/** All schema errors of a record as one Problem, each path once, with its position in the file. */
export const schemaProblem = (source: FrontMatter, complaints: readonly SchemaError[]): Problem => {
  // typebox reports each branch of a union, then the union. The branch for a value of this type says what to write.
  const unions = complaints.flatMap((one) => (one.keyword === 'anyOf' ? one.instancePath : []));
  const first = new Map<string, Problem>();
  // That a value may be empty says the least.
  const useful = complaints.filter(({ params }) => params.type !== 'null');
  for (const one of [...useful.filter(isOfItsType(source)), ...useful, ...complaints]) {
    const path = pathOf(one);
    const union = unions.find((each) => `${one.instancePath}/`.startsWith(`${each}/`));
    const key = union ?? path.join('/');
    if (!first.has(key)) first.set(key, problemAt(source, path, one));
  }
  return together([...first.values()]);
};

const isOfItsType =
  ({ data }: FrontMatter) =>
  ({ keyword, instancePath }: SchemaError): boolean =>
    keyword !== 'type' &&
    keyword !== 'anyOf' &&
    (keyword !== 'enum' || typeof valueAt(data, stepsOf(instancePath)) !== 'object');

const valueAt = (data: unknown, path: readonly string[]): unknown =>
  path.reduce((at, step) => (at as Record<string, unknown> | null | undefined)?.[step], data);

const stepsOf = (instancePath: string): string[] => instancePath.split('/').slice(1).map(unescaped);

// Missing keys are reported together.
const pathOf = (complaint: SchemaError): string[] => [
  ...stepsOf(complaint.instancePath),
  ...(complaint.keyword === 'required' ? [missingIn(complaint).join(', ')] : []),
];

const missingIn = ({ params }: SchemaError): string[] =>
  [params.requiredProperties].flat().map(String);

const unescaped = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');

const problemAt = (source: FrontMatter, path: string[], complaint: SchemaError): Problem => {
  const place = positionOfPath(source, path);
  const commented = isPrivate(path) ? undefined : hiddenByComment(source, place, complaint);
  const what = commented ?? wording(source, path, complaint);
  return new Problem('not_a_record', `${path.join('.')}: ${what}`, place);
};

// `title: #5 is wrong` has no value.
const hiddenByComment = (
  { yaml }: FrontMatter,
  { line }: TextPosition,
  { params }: SchemaError,
): string | undefined => {
  const [, text] = /^[^:#]+:[ \t]+(#.*?)\r?$/.exec(yaml.split('\n')[line - 2] ?? '') ?? [];
  if (text === undefined || params.type !== 'string') return undefined;
  return `is empty, because # begins a comment. Put it in quotes: ${JSON.stringify(text)}`;
};

const wording = (
  { data }: FrontMatter,
  path: readonly string[],
  complaint: SchemaError,
): string => {
  const { keyword, message, params } = complaint;
  const value = isPrivate(path) ? undefined : valueAt(data, path);
  if (keyword === 'required')
    return missing(valueAt(data, path.slice(0, -1)), missingIn(complaint));
  if (Array.isArray(params.allowedValues))
    return `must be one of ${params.allowedValues.join(', ')}${insteadOf(value)}`;
  if (keyword === 'const') return `must be ${params.allowedValue}${insteadOf(value)}`;
  if (keyword === 'format')
    return `must be ${FORMATS[String(params.format)] ?? params.format}${insteadOf(value)}`;
  const wanted = ownValue(WANTED, String(params.type));
  if (wanted === undefined) return `${patternError(params.pattern) ?? message}${insteadOf(value)}`;
  const advice = wanted.advise(value);
  return `must be ${wanted.name}${advice === undefined ? insteadOf(value) : `: write ${advice}`}`;
};

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'a time such as 2026-11-21T07:03:46Z',
  uuid: 'a UUID',
};

const missing = (parent: unknown, names: readonly string[]): string => {
  if (names.length > 1) return 'are missing';
  const meant = meantBy(names[0] ?? '', Object.keys(Object(parent)));
  return meant === undefined ? 'is missing' : `is missing. Is ${meant} a misspelling of it?`;
};

// Tokens and passwords may be there.
const isPrivate = (path: readonly string[]): boolean =>
  path.some((step) => step === 'env' || step === 'args' || step === 'secret');

const insteadOf = (value: unknown): string => {
  if (value === undefined) return '';
  if (value === null) return ', not empty';
  if (Array.isArray(value)) return ', not a list';
  const text = typeof value === 'object' ? '' : String(value);
  return text !== '' && text.length <= MAX_SHOWN && !UNSHOWN.test(text) ? `, not ${text}` : '';
};

const MAX_SHOWN = 60;
// Hidden characters; and an address may have a password before its @, while problems are logged and sent to receivers.
const UNSHOWN = /[@\p{C}]/u;

/** How a type is named, and how to write the value that was probably meant. */
interface Wanted {
  name: string;
  advise: (value: unknown) => string | undefined;
}

const asNumber = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
    ? `${value.trim()}, without quotes`
    : undefined;

const asList = (value: unknown): string | undefined =>
  typeof value === 'string' ? `[${JSON.stringify(value)}]` : undefined;

const asText = (value: unknown): string | undefined =>
  typeof value === 'number' || typeof value === 'boolean' ? `"${value}", in quotes` : undefined;

// In YAML 1.2, `yes`, `no`, `on` and `off` are text.
const asBoolean = (value: unknown): string | undefined => {
  const word = String(value).trim().toLowerCase();
  if (['true', 'yes', 'on', 'y', '1'].includes(word)) return 'true, without quotes';
  return ['false', 'no', 'off', 'n', '0'].includes(word) ? 'false, without quotes' : undefined;
};

const WANTED: Readonly<Record<string, Wanted>> = {
  boolean: { name: 'true or false', advise: asBoolean },
  integer: { name: 'a whole number', advise: asNumber },
  number: { name: 'a number', advise: asNumber },
  string: { name: 'text', advise: asText },
  array: { name: 'a list', advise: asList },
  object: { name: '`key: value` lines', advise: () => undefined },
};

/** Line and column of the value at a path, or of its nearest existing parent. */
export const positionOfPath = (source: FrontMatter, path: readonly string[]): TextPosition =>
  placeAt(source, offsetsOn(source, path).at(-1) ?? 0);

/** Line and column of the value at a path; undefined if it is missing. */
export const placeIfThere = (
  source: FrontMatter,
  path: readonly string[],
): TextPosition | undefined => {
  const offsets = offsetsOn(source, path);
  return offsets.length < path.length ? undefined : placeAt(source, offsets.at(-1) ?? 0);
};

/** The offset in the YAML of each existing step of a path. */
const offsetsOn = ({ document }: FrontMatter, path: readonly string[]): number[] => {
  const offsets: number[] = [];
  let node: unknown = mapOf(document);
  for (const name of path) {
    const step = stepInto(node, name);
    if (step === undefined) break;
    offsets.push(step.offset);
    node = step.node;
  }
  return offsets;
};

interface Step {
  node: unknown;
  offset: number;
}

const stepInto = (node: unknown, name: string): Step | undefined => {
  if (isSeq(node)) {
    const item = node.items[Number(name)] as { range?: number[] } | undefined;
    return item && { node: item, offset: item.range?.[0] ?? 0 };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name);
  return isScalar(pair?.key) ? { node: pair.value, offset: pair.key.range?.[0] ?? 0 } : undefined;
};

/** Line and column in the file for an offset in its YAML. */
export const placeAt = ({ yaml }: Pick<FrontMatter, 'yaml'>, offset: number): TextPosition => {
  const before = yaml.slice(0, offset).split('\n');
  return { line: before.length + 1, column: (before.at(-1)?.length ?? 0) + 1 };
};
