import type { Command } from './args/command.ts';
import type { OptionName } from './args/options.ts';
import { EVERYWHERE } from './args/read.ts';
import { type Offered, offeredFor } from './args/values.ts';

/** Whether the daemon lists it. */
export const isKind = (offered: Offered): offered is 'providers' | 'projects' =>
  typeof offered === 'string';

/** Their names, with blanks between. */
export const namesOf = (commands: readonly Command[]): string =>
  commands.map(({ name }) => name).join(' ');

/** All long options of a command. */
export const flagsOf = ({ options }: Command): string[] =>
  [...Object.keys(options), ...EVERYWHERE].map((name) => `--${name}`);

/** A pattern of the commands that take a Work item. */
export const takingItems = (commands: readonly Command[]): string =>
  commands
    .filter(({ words }) => /\bITEM\b/.test(words))
    .map(({ name }) => name)
    .join('|');

/** Of words that begin like `install|status|uninstall` or `[add|run] ITEM`. */
export const choicesOf = ({ words }: Command): string[] =>
  /^\[?([a-z]+(?:\|[a-z]+)+)\]?(?: |$)/.exec(words)?.[1]?.split('|') ?? [];

/** A pattern of the commands whose first word is one of some. */
export const choosing = (commands: readonly Command[]): string =>
  commands
    .filter((command) => choicesOf(command).length > 0)
    .map(({ name }) => name)
    .join('|');

interface Taking {
  /** The command and the option, as `ls--state`. */
  at: string;
  offered: Offered;
}

const withValues = (commands: readonly Command[]): Taking[] =>
  commands.flatMap((command) =>
    (Object.keys(command.options) as OptionName[]).flatMap((option) => {
      const offered = offeredFor(command, option);
      return offered === undefined ? [] : [{ at: `${command.name}--${option}`, offered }];
    }),
  );

/** A pattern of the commands with an option whose values are known: `ls--state`. */
export const takingValues = (commands: readonly Command[]): string =>
  withValues(commands)
    .map(({ at }) => at)
    .join('|');

/** Lines of a `case` for these: what offers words, and what offers a list of the daemon's. */
export const valueLines = (
  commands: readonly Command[],
  ofWords: (list: string) => string,
  ofKind: (kind: string) => string,
): string =>
  withValues(commands)
    .map(({ at, offered }) => {
      const doing = isKind(offered) ? ofKind(offered) : ofWords(offered.join(' '));
      return `    ${at}) ${doing} ;;`;
    })
    .join('\n');

/** Lines of a `case` by the command, for those whose list is not empty. */
export const caseLines = (
  commands: readonly Command[],
  listOf: (command: Command) => string[],
  doing: (list: string) => string,
): string =>
  commands
    .filter((command) => listOf(command).length > 0)
    .map((command) => `    ${patternOf(command)}) ${doing(listOf(command).join(' '))} ;;`)
    .join('\n');

/** A command as a pattern. A line without one is `up`. */
export const patternOf = ({ name }: Command): string => (name === 'up' ? `up|""` : name);
