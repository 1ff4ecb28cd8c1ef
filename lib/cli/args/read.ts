import { parseArgs } from 'node:util';
import { messageOf } from '../../../store/base/attempt.ts';
import { meantBy } from '../../../store/base/suggest.ts';
import { type Config, configOf, UsageError } from '../../config.ts';
import type { Call, Command } from './command.ts';
import { checkTyped } from './input-text.ts';
import { OPTIONS, type OptionName, type Values } from './options.ts';

/** Options of every command. */
export const COMMON_OPTIONS: readonly OptionName[] = ['workspace', 'help', 'version'];

/**
 * Parses the command line. Without a command it is `up`; `COMMAND --help` becomes the command `help` with its name. Throws
 * UsageError.
 */
export const parseCommandLine = (
  commands: readonly Command[],
  argv: readonly string[],
  env: Config['env'],
): { command: Command; call: Call } => {
  const { values, positionals } = parse(commands, argv);
  const [name = 'up', ...words] = positionals;
  const named = (wanted: string): Command => {
    const found = commands.find((each) => each.name === wanted);
    if (found !== undefined) return found;
    throw new UsageError(unknownCommand(wanted, commands));
  };
  const config = configOf(values, env);
  if (values.help === true)
    return {
      command: named('help'),
      call: { config, commands, values: { help: true }, words: positionals.slice(0, 1) },
    };
  const command = named(values.version === true ? 'version' : name);
  if (values.version !== true) checkWords(command, words);
  checkOptions(commands, command, values);
  checkTexts(command, words, values);
  return { command, call: { config, commands, values, words } };
};

/** The command line that shows the options of the command in `argv`, which may be wrong otherwise. */
export const helpFor = (commands: readonly Command[], argv: readonly string[]): string => {
  const command = commandIn(commands, argv);
  return command === undefined ? 'dossier --help' : `dossier ${command.name} --help`;
};

const commandIn = (commands: readonly Command[], argv: readonly string[]): Command | undefined => {
  const { positionals } = parseArgs({
    args: [...argv],
    options: OPTIONS,
    allowPositionals: true,
    strict: false,
  });
  return commands.find((each) => each.name === positionals[0]);
};

const unknownCommand = (wanted: string, commands: readonly Command[]): string => {
  const names = commands.map(({ name }) => name);
  const meant = meantBy(wanted, names);
  const hint = meant === undefined ? 'Run dossier help to list commands' : `Did you mean ${meant}?`;
  return `There is no command ${wanted}. ${hint}`;
};

// Node's message contains an example with quotes that would not survive a shell.
const unknownOption = (
  sentence: string,
  commands: readonly Command[],
  argv: readonly string[],
): string | undefined => {
  const [, written] = /^Unknown option '(.+?)'/.exec(sentence) ?? [];
  if (written === undefined) return undefined;
  const own = commandIn(commands, argv)?.options ?? OPTIONS;
  const meant = meantBy(written.replace(/^-+/, ''), [...Object.keys(own), ...COMMON_OPTIONS]);
  return `Unknown option: ${written}${meant === undefined ? '' : `. Did you mean --${meant}?`}`;
};

const inOurWords = (sentence: string): string =>
  sentence
    .replace(
      /^Option '(?:-\w, )?(.+?)(?: <value>)?' argument is ambiguous.*/,
      '$1 needs a value that does not begin with a dash',
    )
    .replace(/^Option '(?:-\w, )?(.+?)(?: <value>)?' argument missing$/, '$1 needs a value')
    .replace(/^Option '(?:-\w, )?(.+?)' does not take an argument$/, '$1 takes no value');

const parse = (
  commands: readonly Command[],
  argv: readonly string[],
): { values: Values; positionals: string[] } => {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    // Node's message has three lines.
    const [first = ''] = messageOf(error).split('\n');
    throw new UsageError(unknownOption(first, commands, argv) ?? inOurWords(first));
  }
};

const FEW = 6;

const checkOptions = (
  commands: readonly Command[],
  { name, options }: Command,
  values: Values,
): void => {
  for (const option of Object.keys(values) as OptionName[]) {
    if (option in options || COMMON_OPTIONS.includes(option)) continue;
    const owners = commands.filter((each) => option in each.options);
    // A longer list names most commands, and does not help.
    const those =
      owners.length > FEW ? '' : `, which belongs to ${owners.map((each) => each.name).join(', ')}`;
    throw new UsageError(`${name} has no option --${option}${those}`);
  }
};

// An empty word is most likely a variable that is not set, and would mean something else.
const checkTexts = ({ name }: Command, words: readonly string[], values: Values): void => {
  if (words.includes(''))
    throw new UsageError(`${name} got an empty argument: is a variable not set?`);
  for (const [option, value] of Object.entries(values))
    if (value === '') throw new UsageError(`--${option} is empty: is a variable not set?`);
  for (const text of [...words, ...Object.values(values).flat()])
    if (typeof text === 'string') checkTyped(text);
};

// `ITEM [FILE]`: one or two; `[WORD...]`: any number.
const checkWords = ({ name, words: synopsis }: Command, given: readonly string[]): void => {
  const wanted = synopsis === '' ? [] : synopsis.split(' ');
  const needed = wanted.filter((word) => !word.startsWith('['));
  const missing = needed[given.length];
  if (missing !== undefined)
    throw new UsageError(`${name} needs ${missing}: dossier ${name} ${synopsis}`);
  if (given.length <= wanted.length || synopsis.includes('...')) return;
  const tail = synopsis === '' ? 'no arguments' : synopsis;
  throw new UsageError(`${name} takes ${tail}, but got ${given.join(' ')}`);
};
