import { delimiter, isAbsolute } from 'node:path';
import { withoutLogin } from '../../../store/base/text.ts';

export type Environment = Record<string, string>;

/** Variables that name the files of certificate authorities, as the tools define them. */
export const CERTIFICATE_VARIABLES: readonly string[] = [
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'PIP_CERT'],
  ...['CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'CARGO_HTTP_CAINFO', 'AWS_CA_BUNDLE', 'DENO_CERT'],
  ...['npm_config_cafile', 'NPM_CONFIG_CAFILE'],
];

const KEPT = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE'],
  ...['XDG_CONFIG_HOME', 'NPM_CONFIG_USERCONFIG', 'PIP_CONFIG_FILE'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
  ...['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...CERTIFICATE_VARIABLES,
]);

/** Variables that name registries of packages. A login in their addresses is not passed on. */
const REGISTRIES =
  /^(?:npm_config_(?:@[^:]+:)?registry|yarn_(?:npm_)?registry(?:_server)?|(?:pip|uv)_(?:default_|extra_)?index(?:_url)?|pip_trusted_host|go(?:proxy|private|nosumdb|noproxy|sumdb)|cargo_registries_\w+_index)$/i;

/**
 * The environment of every program that is started: an allow-list of `source` and what `extra` adds, so that no
 * secret of the daemon and no GIT_* variable, except for certificates, is inherited. PATH keeps only absolute entries: with a relative one
 * a file in the worktree could stand in for a program.
 */
export const cleanEnvironment = (
  source: Readonly<Record<string, string | undefined>>,
  extra: Readonly<Environment> = {},
): Environment => {
  const kept: Environment = {};
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined) continue;
    if (isKept(name)) kept[name] = value;
    if (REGISTRIES.test(name)) kept[name] = withoutLogin(value);
  }
  const env = { ...kept, ...extra };
  if (env.PATH !== undefined) env.PATH = absoluteOnly(env.PATH);
  return env;
};

/**
 * Variables with which git leaves the repository of its directory, as a hook or an alias of another one has them: those of
 * `git rev-parse --local-env-vars` that are no settings.
 */
export const GIT_PLACES: readonly string[] = [
  ...['GIT_DIR', 'GIT_WORK_TREE', 'GIT_IMPLICIT_WORK_TREE', 'GIT_COMMON_DIR', 'GIT_PREFIX'],
  ...['GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY', 'GIT_ALTERNATE_OBJECT_DIRECTORIES'],
  ...['GIT_NAMESPACE', 'GIT_SHALLOW_FILE', 'GIT_GRAFT_FILE', 'GIT_REPLACE_REF_BASE'],
  ...['GIT_NO_REPLACE_OBJECTS', 'GIT_CONFIG'],
];

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

/** The same without tokens of a code host. */
export const withoutTokens = (login: Readonly<Environment>): Environment =>
  Object.fromEntries(Object.entries(login).filter(([name]) => !name.endsWith('_TOKEN')));

const isKept = (name: string): boolean => KEPT.has(name) || name.startsWith('LC_');

const absoluteOnly = (path: string): string =>
  path.split(delimiter).filter(isAbsolute).join(delimiter);
