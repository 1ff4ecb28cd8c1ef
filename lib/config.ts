import { userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../base/message-of.ts';
import { orElse } from '../base/or-else.ts';
import { realPlace } from '../base/path-contains.ts';

/** How the daemon was started. What the operator changes while it runs is in workspace.md instead. */
export interface Config {
  /** Absolute, and no link: what stands in the place of a directory is a link to everybody else. */
  readonly workspace: string;
  /** The repository of the project `default`, absolute. */
  readonly repo: string | undefined;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** A dev build: the provider endpoints exist. */
  readonly dev: boolean;
  /** What starts programs, names places or opens doors in the workspace's files holds as it stands, now and later. */
  readonly trust: boolean;
  readonly log_level: string;
  /** The command that help was asked for; undefined: for all. */
  readonly help_of?: string;
  /** Of the command import alone: `source` is a zip file or a directory, absolute. */
  readonly import?: { source: string; dry_run: boolean; keep_existing: boolean };
  /** What the command key is to do: make one of that name, list them, or revoke the one with that id. */
  readonly key?: { name?: string; list: boolean; revoke?: string };
  /** What the command trust is to do: show what waits and ask nothing, or say yes without being asked. */
  readonly trusting?: { list: boolean; all: boolean };
  /** What the command check is to do: mend what can be mended without a loss, say it for programs. */
  readonly check?: { fix: boolean; json: boolean };
  /** The environment the daemon was started in. Nobody else reads process.env. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const COMMANDS = [
  'serve',
  'init',
  'trust',
  'key',
  'doctor',
  'check',
  'import',
  'help',
  'version',
] as const;
export type Command = (typeof COMMANDS)[number];
const DEFAULT_PORT = 4870;

/** The command and its configuration: flags win over the environment. Throws UsageError with what is wrong. */
export const readConfig = (
  argv = process.argv.slice(2),
  env = process.env,
): { command: Command; config: Config } => {
  const { values, positionals } = parse(argv);
  const command = commandOf(values, positionals);
  const config = {
    ...configOf(values, env),
    ...(command === 'help' && helpOf(positionals)),
    ...(command === 'import' && { import: importOf(values, positionals) }),
    ...(command === 'trust' && {
      trusting: { list: values.list === true, all: values.all === true },
    }),
    ...(command === 'key' && { key: keyOf(values, positionals) }),
    ...(command === 'check' && { check: { fix: values.fix === true, json: values.json === true } }),
  };
  return { command, config: Object.freeze(config) };
};

/**
 * Where this process puts what it needs for a moment: /tmp may be full, or small. The programs that it starts are given
 * the environment that it was started in.
 */
export const keepScratchIn = (dir: string): void => {
  process.env.TMPDIR = dir;
};

const OPTIONS = {
  workspace: { type: 'string' },
  repo: { type: 'string' },
  host: { type: 'string' },
  port: { type: 'string' },
  dev: { type: 'boolean' },
  trust: { type: 'boolean' },
  'log-level': { type: 'string' },
  'dry-run': { type: 'boolean' },
  'keep-existing': { type: 'boolean' },
  fix: { type: 'boolean' },
  json: { type: 'boolean' },
  list: { type: 'boolean' },
  revoke: { type: 'string' },
  all: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

const parse = (argv: string[]) => {
  try {
    return parseArgs({ args: argv, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
};

type Values = ReturnType<typeof parse>['values'];

const commandOf = (values: Values, [name = 'serve', ...more]: string[]): Command => {
  if (values.help === true) return 'help';
  if (values.version === true) return 'version';
  const command = COMMANDS.find((known) => known === name);
  if (command === undefined)
    throw new UsageError(`There is no command ${name}; there are ${COMMANDS.join(', ')}`);
  const strange = FLAGS.find(
    ([flag, ...owners]) => values[flag] !== undefined && !owners.includes(command),
  );
  if (strange !== undefined)
    throw new UsageError(`--${strange[0]} belongs to the command ${strange[1]}`);
  if (more.length > 0 && !['import', 'key', 'help'].includes(command))
    throw new UsageError(`${command} takes no further words, and was given ${more.join(' ')}`);
  return command;
};

/** Of one command alone. */
const FLAGS: readonly (readonly [flag: keyof Values, ...owners: Command[]])[] = [
  ['dry-run', 'import'],
  ['keep-existing', 'import'],
  ['fix', 'check'],
  ['json', 'check'],
  ['trust', 'serve'],
  ['list', 'trust', 'key'],
  ['revoke', 'key'],
  ['all', 'trust'],
];

// `dossier key --help` and `dossier help key`.
const helpOf = (words: readonly string[]): Pick<Config, 'help_of'> => {
  const wanted = words[0] === 'help' ? words[1] : words[0];
  return wanted === undefined ? {} : { help_of: wanted };
};

const keyOf = (
  { list = false, revoke }: Values,
  [, name, ...more]: string[],
): NonNullable<Config['key']> => {
  if (more.length > 0) throw new UsageError('key takes one name: dossier key "editor plug-in"');
  return {
    list,
    ...(name !== undefined && { name }),
    ...(revoke !== undefined && { revoke }),
  };
};

const importOf = (values: Values, [, source, ...more]: string[]): NonNullable<Config['import']> => {
  if (source === undefined || more.length > 0)
    throw new UsageError('import takes one zip file or directory: dossier import FILE.zip');
  return {
    source: resolve(source),
    dry_run: values['dry-run'] === true,
    keep_existing: values['keep-existing'] === true,
  };
};

const configOf = (values: Values, env: Config['env']): Config => {
  const repo = values.repo ?? env.DOSSIER_REPO;
  const workspace = values.workspace ?? env.DOSSIER_WORKSPACE ?? join(homeOf(env), 'dossier');
  return {
    workspace: realPlace(resolve(workspace)),
    repo: repo === undefined ? undefined : resolve(repo),
    host: values.host ?? env.DOSSIER_HOST ?? '127.0.0.1',
    port: portOf(values.port ?? env.DOSSIER_PORT ?? String(DEFAULT_PORT)),
    dev: values.dev ?? env.DOSSIER_DEV === '1',
    trust: values.trust ?? env.DOSSIER_TRUST === '1',
    log_level: values['log-level'] ?? env.DOSSIER_LOG_LEVEL ?? 'info',
    env: { ...env },
  };
};

// Never the current directory: a service manager starts programs without a HOME, and anywhere.
const homeOf = ({ HOME }: Config['env']): string => {
  const home = HOME !== undefined && isAbsolute(HOME) ? HOME : homeOfUser();
  if (home !== undefined && isAbsolute(home)) return home;
  throw new UsageError(
    'There is no HOME, and so no place for a workspace by default: name one with --workspace',
  );
};

// Throws for a user whom the system has no entry of, as containers start programs.
const homeOfUser = (): string | undefined => orElse(() => userInfo().homedir, undefined);

const portOf = (text: string): number => {
  const port = Number(text);
  if (text.trim() !== '' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(`The port has to be a number from 0 to 65535, not ${text}`);
};

export interface WithConfig {
  readonly config: Config;
}
