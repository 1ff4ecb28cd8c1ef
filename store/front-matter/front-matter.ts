import matter from 'gray-matter';
import { type Document, isMap, LineCounter, parseDocument, type YAMLMap } from 'yaml';
import { plainMatter } from './plain-matter.ts';
import { Problem } from './problem.ts';
import { unresolvedIn, yamlProblem } from './yaml-errors.ts';

/**
 * A Markdown record in parts: head + yaml + tail + body is the file, byte for byte. `data` holds the plain values,
 * `document` the position of each in `yaml`.
 */
export interface FrontMatter {
  /** The byte-order mark, if any, and the opening rule. */
  head: string;
  yaml: string;
  /** The closing rule. */
  tail: string;
  body: string;
  eol: '\n' | '\r\n';
  data: Record<string, unknown>;
  document: Document;
}

/** The most characters of YAML in a record. */
export const MAX_YAML = 65_536;
const MAX_ALIASES = 20;
// The rules are lines of exactly three dashes. gray-matter also accepts `---js` and `-----`.
const OPENING = /^(\uFEFF?---(\r?\n))/;
// Not with `^` and `$`, which stop at U+2028 and a carriage return too: they are no line ends in YAML.
const CLOSING = /(?<![^\n])---[ \t]*(?:\r?\n|(?![\s\S]))/;

/** Whether a text starts with the opening rule of a record. */
export const hasFrontMatter = (text: string): boolean => OPENING.test(text);

/** Parses a record; throws a Problem with line and column. The YAML document is parsed when it is first used. */
export const parseFrontMatter = (text: string): FrontMatter => {
  const parts = splitFrontMatter(text);
  const data = plainMatter(parts.yaml);
  if (data === undefined) return withYaml(parts);
  let document: Document | undefined;
  return {
    ...parts,
    data,
    get document() {
      document ??= withYaml(parts).document;
      return document;
    },
  };
};

/** Like `parseFrontMatter`, without the fast path for plain values. */
export const parseAsYaml = (text: string): FrontMatter => withYaml(splitFrontMatter(text));

const withYaml = (parts: Omit<FrontMatter, 'data' | 'document'>): FrontMatter => {
  const { data } = matter(`---\n${parts.yaml}\n---\n`, OPTIONS);
  const source = sources.get(data);
  // gray-matter skips a block of nothing but comments, and ends one at any line that begins with dashes.
  if (source?.yaml !== parts.yaml) throw new Problem('not_a_mapping', NOT_A_MAPPING, START);
  return { ...parts, data, document: source.document };
};

/** Splits a record into its parts, without parsing the YAML. */
export const splitFrontMatter = (text: string): Omit<FrontMatter, 'data' | 'document'> => {
  const opening = OPENING.exec(text);
  if (opening === null) {
    throw new Problem('no_front_matter', 'The file must start with a line of three dashes', START);
  }
  const [, head = '', eol = '\n'] = opening;
  const rest = text.slice(head.length);
  const closing = CLOSING.exec(rest);
  if (closing === null)
    throw new Problem(
      'unclosed_front_matter',
      'The front matter is not closed by a line of three dashes',
      START,
    );
  const yaml = rest.slice(0, closing.index);
  if (yaml.length > MAX_YAML)
    throw new Problem('too_large', `The front matter is over ${MAX_YAML} characters`, START);
  const body = rest.slice(closing.index + closing[0].length);
  return { head, yaml, tail: closing[0], body, eol: eol === '\r\n' ? '\r\n' : '\n' };
};

const START = { line: 1, column: 1 };
const NOT_A_MAPPING = 'The front matter must be `key: value` lines';

// gray-matter returns only the plain values; this returns the parsed document too.
const sources = new WeakMap<object, { yaml: string; document: Document }>();

// YAML 1.2 core: times and `no` stay text. `plainMatter` returns the same values.
const parseYaml = (block: string): Record<string, unknown> => {
  const yaml = block.slice(1);
  const lines = new LineCounter();
  const document = parseDocument(yaml, {
    schema: 'core',
    uniqueKeys: true,
    prettyErrors: false,
    lineCounter: lines,
  });
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0) throw yamlProblem(yaml, document, lines, errors);
  if (!isMap(document.contents)) throw new Problem('not_a_mapping', NOT_A_MAPPING, START);
  const data = plain(yaml, document, lines);
  sources.set(data, { yaml, document: document as unknown as Document });
  return data;
};

const plain = (
  yaml: string,
  document: ReturnType<typeof parseDocument>,
  lines: LineCounter,
): Record<string, unknown> => {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as Record<string, unknown>;
  } catch {
    const unresolved = unresolvedIn(document);
    if (unresolved.length > 0) throw yamlProblem(yaml, document, lines, unresolved);
    const message = `The front matter uses more than ${MAX_ALIASES} YAML aliases`;
    throw new Problem('too_many_aliases', message, START);
  }
};

const refuse = (): never => {
  throw new Problem('not_yaml', 'Front matter must be YAML');
};

// gray-matter evaluates `---js` blocks by default: every other engine throws. Passing options also turns off its
// process-wide cache.
const OPTIONS = {
  language: 'yaml',
  engines: {
    yaml: { parse: parseYaml, stringify: refuse },
    json: { parse: refuse, stringify: refuse },
    js: { parse: refuse, stringify: refuse },
    javascript: { parse: refuse, stringify: refuse },
    coffee: { parse: refuse, stringify: refuse },
  },
};

export const joinFrontMatter = ({
  head,
  yaml,
  tail,
  body,
}: Pick<FrontMatter, 'head' | 'yaml' | 'tail' | 'body'>): string => `${head}${yaml}${tail}${body}`;

export const mapOf = (document: Document): YAMLMap => document.contents as unknown as YAMLMap;

/** The defaults for keys that a hand-made record lacks. */
export const lackingIn = (
  data: Record<string, unknown>,
  defaults: Record<string, unknown>,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(defaults).filter(([key]) => (data[key] ?? null) === null));

/**
 * The text of a body, without the blank line after the front matter and the last line end, so that the API returns
 * exactly the text that it received.
 */
export const textOfBody = ({ body, eol }: Pick<FrontMatter, 'body' | 'eol'>): string => {
  const start = body.startsWith(eol) ? eol.length : 0;
  const end = body.length > start && body.endsWith(eol) ? body.length - eol.length : body.length;
  const text = body.slice(start, end);
  return eol === '\r\n' ? text.replaceAll('\r\n', '\n') : text;
};

export const bodyOfText = (text: string, eol: FrontMatter['eol']): string => {
  if (text === '') return '';
  const lines = eol === '\r\n' ? text.replaceAll('\n', '\r\n') : text;
  return `${eol}${lines}${eol}`;
};
