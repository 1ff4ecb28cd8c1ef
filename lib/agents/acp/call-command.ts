import { resolve } from 'node:path';
import { list } from '../../text/unknown-json.ts';
import type { ToolCall } from './tool-call.ts';

/** The shell command of an execute call, if it is sent as data: a string, or argv unwrapped from `sh -c`. */
export const commandOf = ({ raw_input }: ToolCall): string | undefined => {
  const command = raw_input.command ?? raw_input.cmd;
  const args = wordsOf(raw_input.args ?? []);
  if (typeof command === 'string') return args && [command, ...args].join(' ');
  const words = wordsOf(command) ?? [];
  return words.length === 0 ? undefined : (scriptOf(words) ?? words.join(' '));
};

/**
 * The exact line that a shell reads for an execute call in `cwd`. Undefined if the call has another directory, variables,
 * standard input, two commands, or words that would have to be joined.
 */
export const lineOf = ({ raw_input }: ToolCall, cwd: string): string | undefined => {
  const { command, cmd, args } = raw_input;
  if (command !== undefined && cmd !== undefined) return undefined;
  const hasUsualPlace = Object.entries(raw_input).every(([name, value]) =>
    isUsual(name, value, cwd),
  );
  const isAlone = args === undefined || list(args).length === 0;
  if (!hasUsualPlace || !isAlone) return undefined;
  const given = command ?? cmd;
  return typeof given === 'string' ? given : scriptOf(wordsOf(given) ?? []);
};

const isUsual = (name: string, value: unknown, cwd: string): boolean => {
  if (isNothing(value)) return true;
  if (PLACE.test(name)) return typeof value === 'string' && resolve(cwd, value) === resolve(cwd);
  return HARMLESS.test(name);
};

const isNothing = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length === 0
    : value === undefined || value === null || value === '' || value === false;

// Names that agents use: `cwd`, `workdir`, `working_directory`, `dir_path`.
const PLACE = /cwd|dir|path|folder|root/i;
// Fields that do not change how the command runs. Any other field may: environment, user, a request to leave the sandbox.
const HARMLESS =
  /^(?:command|cmd|args|parsed_cmd|description|reason|justification|explanation|title|timeout(?:_?ms)?|(?:is_|run_in_)?background|(?:\w+_)?id)$/i;

const scriptOf = (words: readonly string[]): string | undefined => {
  const [shell = '', flag = '', script] = words;
  const isWrapped = words.length === 3 && SHELL.test(shell) && /^-\w*c$/.test(flag);
  return isWrapped ? script : undefined;
};

// A program of the same name in another directory may not be a shell.
const SHELL = /^((\/usr)?\/bin\/)?(sh|bash|dash|zsh)$/;

const wordsOf = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : undefined;
