import { userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { orElse } from '../store/base/attempt.ts';
import { realPlace } from '../store/base/paths.ts';

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
  /** Where this user's decisions are kept, for all workspaces; undefined where there is no home directory. */
  readonly state: string | undefined;
  /** It was named, by a flag or a variable. */
  readonly names_state?: boolean;
  /** The environment the daemon was started in. Nobody else reads process.env. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const DEFAULT_PORT = 4870;

/**
 * Where this process puts what it needs for a moment: /tmp may be full, or small. The programs that it starts are given
 * the environment that it was started in.
 */
export const keepScratchIn = (dir: string): void => {
  process.env.TMPDIR = dir;
};

/** The flags that say it. */
interface Flags {
  readonly workspace?: string;
  readonly repo?: string;
  readonly host?: string;
  readonly port?: string;
  readonly dev?: boolean;
  readonly trust?: boolean;
  readonly 'log-level'?: string;
  readonly 'state-dir'?: string;
}

/** How the daemon is to be started: flags win over the environment. Throws UsageError with what is wrong. */
export const configOf = (values: Flags, env: Config['env']): Config => {
  const repo = placeOf('repo', values.repo, env.DOSSIER_REPO);
  const workspace =
    placeOf('workspace', values.workspace, env.DOSSIER_WORKSPACE) ?? join(homeOf(env), 'dossier');
  const state = placeOf('state-dir', values['state-dir'], env.DOSSIER_STATE_DIR);
  return Object.freeze({
    workspace: realPlace(resolve(workspace)),
    repo: repo === undefined ? undefined : resolve(repo),
    host: values.host ?? env.DOSSIER_HOST ?? '127.0.0.1',
    port: portOf(values.port ?? env.DOSSIER_PORT ?? String(DEFAULT_PORT)),
    dev: values.dev ?? env.DOSSIER_DEV === '1',
    trust: values.trust ?? env.DOSSIER_TRUST === '1',
    log_level: values['log-level'] ?? env.DOSSIER_LOG_LEVEL ?? 'info',
    state: stateOf(state, env),
    names_state: state !== undefined,
    env: { ...env },
  });
};

// An empty name would be the current directory: a variable is not set then, and of a flag something was meant.
const placeOf = (name: string, flag?: string, variable?: string): string | undefined => {
  if (flag === '') throw new UsageError(`--${name} needs a directory, and was given an empty name`);
  return flag ?? (variable || undefined);
};

// By the XDG Base Directory Specification, which ignores a relative path.
const stateOf = (named: string | undefined, env: Config['env']): string | undefined => {
  if (named !== undefined) return resolve(named);
  const { XDG_STATE_HOME: home = '' } = env;
  if (isAbsolute(home)) return join(home, 'dossier');
  const user = orElse(() => homeOf(env), undefined);
  return user === undefined ? undefined : join(user, '.local', 'state', 'dossier');
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
