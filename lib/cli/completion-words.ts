import type { Dossier } from '../client/client.ts';
import type { Command } from './args/command.ts';
import type { OptionName } from './args/options.ts';
import { COMMON_OPTIONS } from './args/read.ts';
import { findItem } from './connection/find.ts';
import { verb } from './verbs/verb.ts';

/** Whether the daemon returns the values. */
export const isKind = (offered: Offered): offered is 'providers' | 'projects' =>
  typeof offered === 'string';

/** The names of commands, separated by spaces. */
export const namesOf = (commands: readonly Command[]): string =>
  commands.map(({ name }) => name).join(' ');

/** All long options of a command. */
export const flagsOf = ({ options }: Command): string[] =>
  [...Object.keys(options), ...COMMON_OPTIONS].map((name) => `--${name}`);

/** A shell pattern for the commands that take a Work item. */
export const takingItems = (commands: readonly Command[]): string =>
  commands
    .filter(({ words }) => /\bITEM\b/.test(words))
    .map(({ name }) => name)
    .join('|');

/** The choices of the first argument, as in `install|status|uninstall` or `[add|run] ITEM`. */
export const choicesOf = ({ words }: Command): string[] =>
  /^\[?([a-z]+(?:\|[a-z]+)+)\]?(?: |$)/.exec(words)?.[1]?.split('|') ?? [];

/** A shell pattern for the commands with choices. */
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

/** A shell pattern for the commands and options with known values: `ls--state`. */
export const takingValues = (commands: readonly Command[]): string =>
  withValues(commands)
    .map(({ at }) => at)
    .join('|');

/** Branches of a `case` for options with known values, fixed or from the daemon. */
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

/** Branches of a `case` for commands whose list is not empty. */
export const caseLines = (
  commands: readonly Command[],
  listOf: (command: Command) => string[],
  doing: (list: string) => string,
): string =>
  commands
    .filter((command) => listOf(command).length > 0)
    .map((command) => `    ${patternOf(command)}) ${doing(listOf(command).join(' '))} ;;`)
    .join('\n');

/** A shell pattern for a command. An empty command line is `up`. */
export const patternOf = ({ name }: Command): string => (name === 'up' ? `up|""` : name);

const MOST = 100;

type Rows = readonly (readonly string[])[];

const OFFERS: Readonly<Record<string, (dossier: Dossier, item: string) => Promise<Rows>>> = {
  items: async (dossier) => {
    const query = { order: 'newest', fields: 'title', limit: MOST } as const;
    const items = await dossier.call('GET /cases', { query });
    return items.map(({ id, title = '' }) => [id.slice(0, 8), title]);
  },
  proofs: async (dossier, item) => {
    const id = await findItem({ dossier, typed: String }, item);
    const proofs = await dossier.call('GET /cases/{id}/proof', { id });
    return proofs.map((each) => [each.id.slice(0, 8), each.file ?? each.type]);
  },
  providers: async (dossier) =>
    (await dossier.call('GET /api/sessions/providers')).map(({ id }) => [id]),
  projects: async (dossier) => {
    const { projects } = await dossier.call('GET /settings');
    return projects.map(({ name }) => [name]);
  },
};

/** Whether `dossier completion WORD` lists values: `items`, `providers`, `projects`, or `proofs:ITEM`. */
export const isOffer = (word: string): boolean => Object.hasOwn(OFFERS, word.split(':')[0] ?? '');

/** Lists values for the completion scripts, with descriptions. Starts no daemon, because a key press calls it. */
export const offers = verb(async ({ dossier, words: [word = ''], out }) => {
  const [kind = '', ...item] = word.split(':');
  out.table((await OFFERS[kind]?.(dossier, item.join(':'))) ?? []);
});

/** The values of an option: a fixed list, or a list that the daemon returns. */
type Offered = readonly string[] | 'providers' | 'projects';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const STATES = 'open planning investigating implementing verifying blocked resolved non_issue';

const VALUES: Readonly<Partial<Record<OptionName, Offered>>> = {
  state: STATES.split(' '),
  type: ['bug', 'feature', 'docs', 'chore', 'question', 'task'],
  provider: 'providers',
  project: 'projects',
  base: ['current'],
  for: ['plan', 'done'],
  from: ['again', 'next'],
  'log-level': LEVELS,
};

const TYPES: Readonly<Record<string, Offered>> = {
  start: ['implementing', 'investigating', 'verifying'],
  proof: ['tests', 'screenshot', 'log', 'review', 'file', 'check'],
};

/** The known values of a command's option; undefined if any value is allowed. */
export const offeredFor = ({ name }: Command, option: OptionName): Offered | undefined =>
  (option === 'type' ? TYPES[name] : undefined) ?? VALUES[option];
