import matter from 'gray-matter';
import { type Document, isMap, LineCounter, parseDocument, type YAMLMap } from 'yaml';
import { plainMatter } from './plain-matter.ts';
import { Problem } from './problem.ts';
import { yamlProblem } from './yaml-problems.ts';

/**
 * A Markdown record taken apart without losing a byte: head + yaml + tail + body is the file again.
 * `data` are the plain values, `document` knows where in `yaml` each of them stands.
 */
export interface FrontMatter {
  /** A byte-order mark where there was one, and the opening rule. */
  head: string;
  yaml: string;
  /** The closing rule. */
  tail: string;
  body: string;
  eol: '\n' | '\r\n';
  data: Record<string, unknown>;
  document: Document;
}

const MAX_YAML = 65_536;
const MAX_ALIASES = 20;
// The rules are lines of exactly three dashes: `---js` and `-----` are not front matter, whatever gray-matter thinks.
const OPENING = /^(\uFEFF?---(\r?\n))/;
const CLOSING = /^---[ \t]*(?:\r?\n|$)/m;

/** Whether a text begins as a record does. */
export const hasFrontMatter = (text: string): boolean => OPENING.test(text);

/** Parses a record; throws the Problem with its line and column. Its document is made when it is first asked for. */
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

/** The same by the YAML parser alone, also where the values can be read without. */
export const parseAsYaml = (text: string): FrontMatter => withYaml(splitFrontMatter(text));

const withYaml = (parts: Omit<FrontMatter, 'data' | 'document'>): FrontMatter => {
  const { data } = matter(`---\n${parts.yaml}\n---\n`, OPTIONS);
  const source = sources.get(data);
  // gray-matter skips a block of nothing but comments, and ends one at any line that begins with dashes.
  if (source?.yaml !== parts.yaml) throw new Problem('not_a_mapping', NOT_A_MAPPING, START);
  return { ...parts, data, document: source.document };
};

/** The parts alone, without parsing the YAML. */
export const splitFrontMatter = (text: string): Omit<FrontMatter, 'data' | 'document'> => {
  const opening = OPENING.exec(text);
  if (opening === null) {
    throw new Problem(
      'no_front_matter',
      'The file has to begin with a line of three dashes',
      START,
    );
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
const NOT_A_MAPPING = 'The front matter has to be `key: value` lines';

// How the parsed document gets out of gray-matter, which hands on the plain values only.
const sources = new WeakMap<object, { yaml: string; document: Document }>();

// For reading and for writing (YAML 1.2 core: times and `no` stay text); `plainMatter` answers the same where it answers.
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
  if (errors.length > 0) throw yamlProblem(yaml, errors, lines);
  if (!isMap(document.contents)) throw new Problem('not_a_mapping', NOT_A_MAPPING, START);
  const data = plain(document);
  sources.set(data, { yaml, document: document as unknown as Document });
  return data;
};

const plain = (document: {
  toJS(options: { maxAliasCount: number }): unknown;
}): Record<string, unknown> => {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as Record<string, unknown>;
  } catch {
    throw new Problem(
      'too_many_aliases',
      `The front matter uses more than ${MAX_ALIASES} YAML aliases`,
      START,
    );
  }
};

const refuse = (): never => {
  throw new Problem('not_yaml', 'Front matter is YAML, nothing else');
};

// gray-matter evaluates `---js` blocks by default and shares cached objects: every other engine throws, and passing
// options at all keeps its process-wide cache out.
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

/** Of these defaults what a record that was made by hand does not say. */
export const lackingIn = (
  data: Record<string, unknown>,
  defaults: Record<string, unknown>,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(defaults).filter(([key]) => (data[key] ?? null) === null));

/**
 * The text a body stands for: without the blank line after the front matter and the last line end, so that what the
 * API was given comes back exactly.
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
