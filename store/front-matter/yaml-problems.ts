import type { LineCounter, YAMLError } from 'yaml';
import { Problem, together } from './problem.ts';

/** All that keeps a text from being YAML, the first thing of each line, in words for who wrote it by hand. */
export const yamlProblem = (
  yaml: string,
  errors: readonly YAMLError[],
  counter: LineCounter,
): Problem => {
  const lines = yaml.split(/\r?\n/);
  const found = new Map<number, Problem>();
  for (const error of errors) {
    const { line, col } = counter.linePos(error.pos[0]);
    if (found.has(line)) continue;
    const message = quoting(error, lines[line - 1] ?? '') ?? firstLine(error.message);
    found.set(line, new Problem('bad_yaml', message, { line: line + 1, column: col }));
  }
  return together([...found.values()]);
};

const firstLine = (message: string): string => message.split('\n', 1)[0] ?? message;

// What people write and YAML means otherwise: a colon in a value, or a mark at its beginning.
const quoting = ({ code }: YAMLError, line: string): string | undefined => {
  const [, key = '', value = ''] = /^\s*((?:- )?[\w-]+:)[ \t]+(\S.*?)[ \t]*$/.exec(line) ?? [];
  if (value === '') return undefined;
  const written = `Put it in quotes: ${key} ${JSON.stringify(value)}`;
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && /:(?:\s|$)/.test(value))
    return `The value has a colon in it, and would be \`key: value\` itself. ${written}`;
  if (code === 'BAD_SCALAR_START' || code === 'UNEXPECTED_TOKEN')
    return `To YAML the value means something else. ${written}`;
  return undefined;
};
