import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import { withoutLogin } from '../../store/base/text.ts';
import { plainText } from '../tools/git/run/plain-file.ts';
import { looksSecret } from '../tools/git/run/redact-config.ts';
import { CERTIFICATE_VARIABLES, type Environment } from '../tools/process/environment.ts';
import { settingsCopy } from './git-config.ts';
import type { Mount } from './mounts.ts';

export interface ToolConfig {
  mounts: Mount[];
  /** The files of certificate authorities that the settings or the environment name. */
  certificates: string[];
}

/**
 * Shows the operator's settings of package managers and of gh, without logins. If a private registry were hidden, its packages
 * would be asked for at the public one, where anybody can publish under their names. Paths in `given` are shown as they are
 * by another rule.
 */
export const toolConfig = (env: Environment, given: readonly string[]): ToolConfig => {
  const found = filesOf(env)
    // Not /dev/null, which turns a tool's settings off.
    .filter(([path]) => isFile(path) && !given.includes(path))
    .map(([path, format]) => ({ path, shown: shownOf(path, format) }));
  const certificates = [
    ...found.flatMap(({ shown }) => shown.certificates),
    ...CERTIFICATE_VARIABLES.flatMap((name) => env[name] ?? []),
  ];
  return {
    mounts: found.map(({ path, shown: { text } }) => mountAt(path, settingsCopy(text))),
    certificates: certificates
      .map((path) => path.replace(/^(?:~|\$\{HOME\})(?=\/)/, env.HOME ?? '/'))
      .filter(isAbsolute),
  };
};

const isFile = (path: string): boolean => orElse(() => statSync(path).isFile(), false);

const mountAt = (path: string, from: string): Mount => {
  const at = join(realpathSync(dirname(path)), basename(path));
  return { path: at, arguments: ['--ro-bind', from, at] };
};

const filesOf = ({ HOME = '/', XDG_CONFIG_HOME, ...env }: Environment): [string, Format][] => {
  const config = XDG_CONFIG_HOME ?? join(HOME, '.config');
  return [
    [env.NPM_CONFIG_USERCONFIG ?? join(HOME, '.npmrc'), npmrc],
    [join(config, 'pnpm/rc'), npmrc],
    [join(HOME, '.yarnrc'), yarnrc],
    [join(HOME, '.yarnrc.yml'), yarnrcYml],
    [env.PIP_CONFIG_FILE ?? join(config, 'pip/pip.conf'), pip],
    [join(HOME, '.pip/pip.conf'), pip],
    [join(config, 'uv/uv.toml'), uv],
    [join(HOME, '.cargo/config.toml'), cargo],
    [join(HOME, '.cargo/config'), cargo],
    [join(config, 'gh/config.yml'), gh],
    [join(config, 'gh/hosts.yml'), gh],
  ];
};

const MOST_BYTES = 1_048_576;

// Links are followed: dotfiles are often links, and only known keys are shown.
const shownOf = (path: string, format: Format): WithoutLogins =>
  withoutLogins(plainText(realpathSync(path), MOST_BYTES) ?? '', format);

/** A configuration file as a run may see it. */
interface WithoutLogins {
  text: string;
  /** The files of certificate authorities that it names, as written. */
  certificates: string[];
}

/** What a run may see of a format. It is an allow-list, because a list of all secrets is never complete. */
export interface Format {
  /** A line's key and value. */
  line: RegExp;
  keys: RegExp;
  /** The tables of which keys are shown; all tables if it is missing. */
  tables?: RegExp;
  /** Keys of logins, which are shown if the value is only the name of a variable. */
  logins?: RegExp;
}

const EQUALS = /^\s*(["']?)([^=]+?)\1\s*=\s*(.*)$/;
const EQUALS_OR_COLON = /^\s*()([^=:]+?)\s*[=:]\s*(.*)$/;
const COLON = /^\s*(?:- )?(["']?)([^:]+?)\1\s*:(?:\s+(.*))?$/;
const SPACE = /^\s*(["']?)(\S+?)\1\s+(.*)$/;

/** npm and pnpm. */
export const npmrc: Format = {
  line: EQUALS,
  keys: /^(?:(?:@[^:]+:)?registry|cafile|strict-ssl|engine-strict|save-exact|save-prefix|legacy-peer-deps|ignore-scripts|audit|fund|package-lock|prefer-offline|min-release-age|before|node-linker|auto-install-peers|strict-peer-dependencies)$/,
  logins: /^\/\/.+:(?:_authToken|_auth|_password|username|email)$/,
};

/** Yarn 1. */
export const yarnrc: Format = { line: SPACE, keys: /^(?:(?:@[^:]+:)?registry|cafile|strict-ssl)$/ };

/** Yarn 2 and later. */
export const yarnrcYml: Format = {
  line: COLON,
  keys: /^(?:npmRegistryServer|npmAlwaysAuth|httpsCaFilePath|enableStrictSsl|enableTelemetry|nodeLinker)$/,
  logins: /^npmAuth(?:Token|Ident)$/,
};

export const pip: Format = {
  line: EQUALS_OR_COLON,
  keys: /^(?:index[-_]url|extra[-_]index[-_]url|trusted[-_]host|cert|no[-_]index|find[-_]links|(?:only|no|prefer)[-_]binary|require[-_]virtualenv|break[-_]system[-_]packages|(?:default[-_])?timeout|retries)$/,
};

export const uv: Format = {
  line: EQUALS,
  keys: /^(?:name|url|default|explicit|index|(?:extra-)?index-url|default-index|index-strategy|native-tls|offline|python-preference)$/,
};

export const cargo: Format = {
  line: EQUALS,
  tables: /^(?:source|registries|registry|http|net|build|target|profile)\b/,
  keys: /(?:^|\.)(?:replace-with|registry|local-registry|directory|git|branch|tag|rev|index|protocol|default|cainfo|check-revoke|multiplexing|git-fetch-with-cli|retry|offline|jobs|target|rustflags|linker|opt-level|debug|lto)$/,
};

export const gh: Format = {
  line: COLON,
  keys: /^(?:version|git_protocol|editor|prompt|pager|user)$/,
};

const TABLE = /^\s*\[{1,2}\s*["']?([^\]]+?)["']?\s*\]{1,2}\s*$/;
const CERTIFICATE = /^(?:cafile|cert|cainfo|httpsCaFilePath)$/;
// pip continues a list of addresses on indented lines.
const ADDRESS = /^\s+https?:\/\/\S+$/;
const VARIABLE = /^(["']?)\$\{\w+\??\}\1$/;

/** Removes everything but known keys, and logins and queries from their addresses. */
export const withoutLogins = (text: string, format: Format): WithoutLogins => {
  const certificates: string[] = [];
  const lines: string[] = [];
  let [place, isShown] = ['', false];
  for (const written of text.split(/\r?\n/)) {
    const line = lineOf(format, written, place);
    place = line.place;
    isShown = (isShown && ADDRESS.test(written)) || isLineShown(format, line);
    if (isShown) lines.push(withoutSecrets(written));
    if (isShown && CERTIFICATE.test(line.key)) certificates.push(unquoted(line.value));
    if (SCOPES_IN_ONE.test(written)) lines.push(INVALID);
  }
  return { text: lines.map((line) => `${line}\n`).join(''), certificates };
};

interface Line {
  /** The table that it is in or begins; empty before the first. */
  place: string;
  isTable: boolean;
  key: string;
  value: string;
}

const lineOf = (format: Format, written: string, before: string): Line => {
  const [, table] = TABLE.exec(written) ?? [];
  const [, , key = '', value = ''] = format.line.exec(written) ?? [];
  return { place: table ?? before, isTable: table !== undefined, key, value: value.trim() };
};

const isLineShown = (
  { tables, ...format }: Format,
  { place, isTable, key, value }: Line,
): boolean => tables?.test(place || key) !== false && (isTable || isKeyShown(format, key, value));

const isKeyShown = (
  { line, keys, logins }: Omit<Format, 'tables'>,
  key: string,
  value: string,
): boolean => {
  if (logins?.test(key) === true) return VARIABLE.test(value);
  // In YAML, a name without a value is the head of a block.
  if (line === COLON && value === '') return key !== '';
  return keys.test(key);
};

// Yarn refuses an invalid file. Without the scopes, it would ask the public registry for their packages.
const SCOPES_IN_ONE = /^\s*["']?npmScopes["']?\s*:\s*\{/;
const INVALID = '{';

const withoutSecrets = (line: string): string =>
  withoutLogin(line).replaceAll(/https?:\/\/[^\s"',]+/gi, (address) => {
    const [plain = ''] = address.split(/[?#]/);
    return looksSecret(plain) ? 'https://hidden.invalid/' : plain;
  });

const unquoted = (text: string): string => text.replace(/^(["'])(.*)\1$/, '$2');
