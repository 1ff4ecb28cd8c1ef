import { withoutLogin } from '../../store/base/text.ts';
import { looksSecret } from '../tools/git/run/redact-config.ts';

/** A configuration file as a run may see it. */
export interface WithoutLogins {
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
