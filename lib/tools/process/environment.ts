import { delimiter, isAbsolute } from 'node:path';

export type Environment = Record<string, string>;

const KEPT = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE'],
  'XDG_CONFIG_HOME',
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
  ...['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
]);

/**
 * The environment of every program that is started: an allow-list of `source` and what `extra` adds, so that no
 * secret of the daemon and no GIT_* variable is inherited. PATH keeps only absolute entries: with a relative one
 * a file in the worktree could stand in for a program.
 */
export const cleanEnvironment = (
  source: Readonly<Record<string, string | undefined>>,
  extra: Readonly<Environment> = {},
): Environment => {
  const kept: Environment = {};
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined && isKept(name)) kept[name] = value;
  }
  const env = { ...kept, ...extra };
  if (env.PATH !== undefined) env.PATH = absoluteOnly(env.PATH);
  return env;
};

// The variables by which ssh, credential helpers and gh find the operator's logins.
const LOGIN = [
  ...['SSH_AUTH_SOCK', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR', 'XDG_CACHE_HOME'],
  ...['XDG_DATA_HOME', 'GNUPGHOME', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GH_CONFIG_DIR', 'GH_HOST'],
  ...['GH_TOKEN', 'GITHUB_TOKEN', 'GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'],
];

/** Variables that the operator's credential programs need. Only for commands that talk to a remote. */
export const loginEnvironment = (
  source: Readonly<Record<string, string | undefined>>,
): Environment =>
  Object.fromEntries(
    LOGIN.flatMap((name): [string, string][] => {
      const value = source[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

const isKept = (name: string): boolean => KEPT.has(name) || name.startsWith('LC_');

const absoluteOnly = (path: string): string =>
  path.split(delimiter).filter(isAbsolute).join(delimiter);
