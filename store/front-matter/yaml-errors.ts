import { type LineCounter, type parseDocument, visit, type YAMLError, YAMLParseError } from 'yaml';
import { Problem, together } from './problem.ts';

type Parsed = ReturnType<typeof parseDocument>;

/** The YAML errors of a text as one Problem, at most one per line, worded for people who edit by hand. */
export const yamlProblem = (
  yaml: string,
  document: Parsed,
  counter: LineCounter,
  errors: readonly YAMLError[],
): Problem => {
  const lines = yaml.split(/\r?\n/);
  const found = new Map<number, Problem>();
  for (const error of errors) {
    const { line, col } = counter.linePos(startOf(error, document));
    if (found.has(line)) continue;
    const message = advice(error, lines[line - 1] ?? '', col) ?? firstLine(error.message);
    found.set(line, new Problem('bad_yaml', message, { line: line + 1, column: col }));
  }
  return together([...found.values()]);
};

const firstLine = (message: string): string => message.split('\n', 1)[0] ?? message;

// The parser reports an open quote where the text ends.
const startOf = (error: YAMLError, document: Parsed): number => {
  let [start] = error.pos;
  if (isOpenQuote(error))
    visit(document, {
      Scalar: (_key, { range }) => {
        if (range?.[1] === error.pos[0]) start = range[0];
      },
    });
  return start;
};

const isOpenQuote = ({ code, message }: YAMLError): boolean =>
  code === 'MISSING_CHAR' && message.startsWith('Missing closing');

// Common mistakes, with what to write.
const advice = (error: YAMLError, line: string, col: number): string | undefined => {
  const { code, message } = error;
  const [, key] = /^([\w-]+)\s*:/.exec(line.slice(col - 1)) ?? [];
  if (isOpenQuote(error))
    return 'The quote that opens here is not closed. Close it in the same line';
  if (code === 'TAB_AS_INDENT') return 'The line is indented with a tab. Use spaces';
  if (code === 'DUPLICATE_KEY' && key !== undefined)
    return `The key ${key} occurs twice. Remove one of the two`;
  if (code === 'MULTILINE_IMPLICIT_KEY' || message.startsWith('Implicit map keys'))
    return 'The line has no `key:`. Add one, or indent the line if it continues the one above';
  return quoting(code, line);
};

// A colon in a value, or a YAML indicator at its start.
const quoting = (code: YAMLError['code'], line: string): string | undefined => {
  const [, key = '', value = ''] = /^\s*((?:- )?[\w-]+:)[ \t]+(\S.*?)[ \t]*$/.exec(line) ?? [];
  if (value === '') return undefined;
  const written = `Put it in quotes: ${key} ${JSON.stringify(value)}`;
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && /:(?:\s|$)/.test(value))
    return `The value contains a colon, which YAML reads as \`key: value\`. ${written}`;
  if (INDICATED.has(code) && /^[\p{P}\p{S}]/u.test(value))
    return `The value starts with a character that has a meaning in YAML. ${written}`;
  return undefined;
};

const INDICATED: ReadonlySet<YAMLError['code']> = new Set<YAMLError['code']>([
  'BAD_ALIAS',
  'BAD_SCALAR_START',
  'BLOCK_AS_IMPLICIT_KEY',
  'TAG_RESOLVE_FAILED',
  'UNEXPECTED_TOKEN',
]);

/** Aliases without an anchor, such as `title: *urgent`: the parser refuses them only when it makes the values. */
export const unresolvedIn = (document: Parsed): YAMLError[] => {
  const found: YAMLError[] = [];
  visit(document, {
    Alias: (_key, alias) => {
      const [start = 0, end = 0] = alias.range ?? [];
      if (alias.resolve(document) === undefined)
        found.push(new YAMLParseError([start, end], 'BAD_ALIAS', `Unknown alias ${alias.source}`));
    },
  });
  return found;
};
