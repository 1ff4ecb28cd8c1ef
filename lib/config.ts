import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** How the daemon was started. What the operator changes while it runs is in workspace.md instead. */
export interface Config {
  /** Absolute. */
  readonly workspace: string;
  /** The repository of the project `default`, absolute. */
  readonly repo: string | undefined;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** A dev build: the provider endpoints exist. */
  readonly dev: boolean;
  readonly log_level: string;
  /** The environment the daemon was started in. Nobody else reads process.env. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type Command = 'serve' | 'init' | 'doctor' | 'help' | 'version';

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const COMMANDS: readonly Command[] = ['serve', 'init', 'doctor', 'help', 'version'];
const DEFAULT_PORT = 4870;

/** The command and its configuration: flags win over the environment. Throws UsageError with what is wrong. */
export const readConfig = (
  argv = process.argv.slice(2),
  env = process.env,
): { command: Command; config: Config } => {
  const { values, positionals } = parse(argv);
  return { command: commandOf(values, positionals), config: Object.freeze(configOf(values, env)) };
};

const OPTIONS = {
  workspace: { type: 'string' },
  repo: { type: 'string' },
  host: { type: 'string' },
  port: { type: 'string' },
  dev: { type: 'boolean' },
  'log-level': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

const parse = (argv: string[]) => {
  try {
    return parseArgs({ args: argv, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

type Values = ReturnType<typeof parse>['values'];

const commandOf = (values: Values, [name = 'serve', ...more]: string[]): Command => {
  if (values.help === true) return 'help';
  if (values.version === true) return 'version';
  const command = COMMANDS.find((known) => known === name);
  if (command === undefined)
    throw new UsageError(`There is no command ${name}; there are ${COMMANDS.join(', ')}`);
  if (more.length > 0)
    throw new UsageError(`${command} takes no further words, and was given ${more.join(' ')}`);
  return command;
};

const configOf = (values: Values, env: Config['env']): Config => {
  const repo = values.repo ?? env.DOSSIER_REPO;
  const workspace = values.workspace ?? env.DOSSIER_WORKSPACE ?? join(env.HOME ?? '.', 'dossier');
  return {
    workspace: resolve(workspace),
    repo: repo === undefined ? undefined : resolve(repo),
    host: values.host ?? env.DOSSIER_HOST ?? '127.0.0.1',
    port: portOf(values.port ?? env.DOSSIER_PORT ?? String(DEFAULT_PORT)),
    dev: values.dev ?? env.DOSSIER_DEV === '1',
    log_level: values['log-level'] ?? env.DOSSIER_LOG_LEVEL ?? 'info',
    env,
  };
};

const portOf = (text: string): number => {
  const port = Number(text);
  if (text.trim() !== '' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(`The port has to be a number from 0 to 65535, not ${text}`);
};
