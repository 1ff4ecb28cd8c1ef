import { resolve } from 'node:path';
import { capText } from '../../text/cap-text.ts';
import { text } from '../../text/unknown-json.ts';
import type { ToolCall } from './tool-call.ts';

/** The shell command of an execute call, if it is sent as data: a string, or argv unwrapped from `sh -c`. */
export const commandOf = ({ raw_input }: ToolCall): string | undefined => {
  const command = raw_input.command ?? raw_input.cmd;
  const [given, args] = [wordsOf([command].flat()), wordsOf(raw_input.args ?? [])];
  if (given === undefined || given.length === 0 || args === undefined) return undefined;
  const words = [...given, ...args];
  return (typeof command === 'string' ? undefined : scriptOf(words)) ?? words.join(' ');
};

/** The command that a prefix may allow: `lineOf`, or plain words that a shell would read as they are. */
export const plainCommandOf = (call: ToolCall, cwd: string): string | undefined =>
  lineOf(call, cwd) ?? (isUsualCall(call, cwd) ? joinedOf(call) : undefined);

const joinedOf = (call: ToolCall): string | undefined => {
  const { command, cmd, args } = call.raw_input;
  const words = [command ?? cmd, args ?? []].flat();
  return words.every((word) => PLAIN_WORD.test(String(word))) ? commandOf(call) : undefined;
};

const PLAIN_WORD = /^[\w@%+:,./=-]+$/;

/**
 * What a call has besides `commandOf`, such as another directory, variables or standard input: JSON of bounded length.
 * Undefined if that command alone decides what runs.
 */
export const otherArgumentsOf = (call: ToolCall, cwd: string): string | undefined => {
  const told = toldBy(call);
  const isShell = call.kind === 'execute';
  const others = Object.entries(call.raw_input).filter(
    ([name, value]) =>
      !told.includes(name) && !(isShell ? isUsual(name, value, cwd) : isNothing(name, value)),
  );
  if (others.length === 0) return undefined;
  const shown = Object.fromEntries(others.map(([name, value]) => [name, shortened(value)]));
  return capText(JSON.stringify(shown), LONGEST_ARGUMENTS).output;
};

// The names of the arguments in `commandOf`.
const toldBy = (call: ToolCall): string[] => {
  if (commandOf(call) === undefined) return [];
  return [call.raw_input.command == null ? 'cmd' : 'command', 'args'];
};

// Each by itself, so that a long argument does not hide the others.
const shortened = (value: unknown): unknown => {
  const told = text(value) ?? JSON.stringify(value);
  return told.length > LONGEST_ARGUMENT ? capText(told, LONGEST_ARGUMENT).output : value;
};

const LONGEST_ARGUMENT = 1000;
const LONGEST_ARGUMENTS = 16_384;

/**
 * The exact line that a shell reads for an execute call in `cwd`. Undefined if the call has another directory, variables,
 * standard input, two commands, or words that would have to be joined.
 */
export const lineOf = (call: ToolCall, cwd: string): string | undefined => {
  const { command, cmd, args } = call.raw_input;
  if (!isNothing('args', args) || !isUsualCall(call, cwd)) return undefined;
  const given = command ?? cmd;
  return typeof given === 'string' ? given : scriptOf(wordsOf(given) ?? []);
};

const isUsualCall = ({ raw_input }: ToolCall, cwd: string): boolean =>
  (raw_input.command === undefined || raw_input.cmd === undefined) &&
  Object.entries(raw_input).every(
    ([name, value]) => COMMAND.test(name) || isUsual(name, value, cwd),
  );

const COMMAND = /^(?:command|cmd|args)$/;

const isUsual = (name: string, value: unknown, cwd: string): boolean => {
  if (isNothing(name, value)) return true;
  if (PLACE.test(name)) return typeof value === 'string' && resolve(cwd, value) === resolve(cwd);
  return HARMLESS.test(name);
};

const isNothing = (name: string, value: unknown): boolean => {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  if (value === false) return !SANDBOXED.test(name);
  return value === undefined || value === null || value === '';
};

// `sandbox: false` asks for a run without one.
const SANDBOXED = /^(?:\w+_)?sandbox(?:ed)?$/i;

// Names that agents use: `cwd`, `workdir`, `working_directory`, `dir_path`.
const PLACE = /cwd|dir|path|folder|root/i;
// Fields that do not change how the command runs. Any other field may: environment, user, a request to leave the sandbox.
const HARMLESS =
  /^(?:parsed_cmd|description|reason|justification|explanation|title|timeout(?:_?ms|_sec(?:ond)?s?)?|available_decisions|proposed_(?:execpolicy|network_policy)_amendments?|started_at_ms|(?:is_|run_in_)?background|(?:(?:(?:tool_)?call|approval|item|request|turn)_)?id)$/i;

const scriptOf = (words: readonly string[]): string | undefined => {
  const [shell = '', flag = '', script] = words;
  const isWrapped = words.length === 3 && SHELL.test(shell) && /^-\w*c$/.test(flag);
  return isWrapped ? script : undefined;
};

// A program of the same name in another directory may not be a shell.
const SHELL = /^((\/usr)?\/bin\/)?(sh|bash|dash|zsh)$/;

const wordsOf = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : undefined;
