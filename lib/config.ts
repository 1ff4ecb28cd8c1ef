import { userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { orElse } from '../store/base/attempt.ts';
import { resolveLinks } from '../store/base/paths.ts';

/** How the daemon was started. Settings that can change while it runs are in workspace.md. */
export interface Config {
  /** Absolute, with symbolic links resolved. */
  readonly workspace: string;
  /** The repository of the project `default`, absolute. */
  readonly repo: string | undefined;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Enables the provider endpoints. */
  readonly dev: boolean;
  /** Settings in files that start programs, name paths or open network access apply without the operator's confirmation. */
  readonly trust: boolean;
  readonly log_level: string;
  /** The directory of this user's decisions, for all workspaces; undefined without a home directory. */
  readonly state: string | undefined;
  /** `state` was set by a flag or a variable. */
  readonly names_state?: boolean;
  /** The environment at the start. No other code reads process.env. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const DEFAULT_PORT = 4870;

/**
 * Sets the directory of this process's temporary files, because /tmp may be full or small. Child processes get the
 * original environment.
 */
export const keepScratchIn = (dir: string): void => {
  process.env.TMPDIR = dir;
};

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

/** Reads the configuration from flags and the environment; flags win. Throws UsageError. */
export const configOf = (values: Flags, env: Config['env']): Config => {
  const repo = placeOf('repo', values.repo, env.DOSSIER_REPO);
  const workspace =
    placeOf('workspace', values.workspace, env.DOSSIER_WORKSPACE) ?? join(homeOf(env), 'dossier');
  const state = placeOf('state-dir', values['state-dir'], env.DOSSIER_STATE_DIR);
  return Object.freeze({
    workspace: resolveLinks(resolve(workspace)),
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

// An empty path would be the current directory. An empty variable counts as unset; an empty flag is a mistake.
const placeOf = (name: string, flag?: string, variable?: string): string | undefined => {
  if (flag === '') throw new UsageError(`--${name} needs a directory, but its value is empty`);
  return flag ?? (variable || undefined);
};

// The XDG Base Directory Specification says to ignore a relative path.
const stateOf = (named: string | undefined, env: Config['env']): string | undefined => {
  if (named !== undefined) return resolve(named);
  const { XDG_STATE_HOME: home = '' } = env;
  if (isAbsolute(home)) return join(home, 'dossier');
  const user = orElse(() => homeOf(env), undefined);
  return user === undefined ? undefined : join(user, '.local', 'state', 'dossier');
};

// Never the current directory: service managers start programs without HOME, in any directory.
const homeOf = ({ HOME }: Config['env']): string => {
  const home = HOME !== undefined && isAbsolute(HOME) ? HOME : homeOfUser();
  if (home !== undefined && isAbsolute(home)) return home;
  throw new UsageError(
    'HOME is not set, so there is no default workspace: name one with --workspace',
  );
};

// userInfo throws for a user without an entry in the user database, as is common in containers.
const homeOfUser = (): string | undefined => orElse(() => userInfo().homedir, undefined);

const portOf = (text: string): number => {
  const port = Number(text);
  if (text.trim() !== '' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(`The port must be a number from 0 to 65535, not ${text}`);
};

export interface WithConfig {
  readonly config: Config;
}
