import { join } from 'node:path';
import { orElse } from '../../../../store/base/attempt.ts';
import type { Environment } from '../../process/environment.ts';
import type { Checkout, GitAt } from './git.ts';
import { readPlain } from './plain-file.ts';

/** An entry of `config --list -z`. An undefined value means a key without one, which git reads as true. */
export interface ConfigEntry {
  key: string;
  value: string | undefined;
}

export interface ScopedEntry extends ConfigEntry {
  /** Set by the repository or the worktree, not by the operator or the system. */
  local: boolean;
}

export const LIST_SETTINGS = ['config', '--list', '-z', '--show-scope', '--includes'] as const;

/** The settings that apply, with those of included files. */
export const listSettings = async (
  git: GitAt<Checkout>,
  encoding: 'latin1' | 'utf8',
): Promise<ScopedEntry[]> => scopedEntries((await git.read(LIST_SETTINGS)).toString(encoding));

/** Parses a listing with scopes, and leaves out what was set for this command. */
export const scopedEntries = (listing: string): ScopedEntry[] => {
  const fields = listing.split('\0');
  return fields.flatMap((scope, at) => {
    const text = at % 2 === 0 ? fields[at + 1] : undefined;
    const local = scope === 'local' || scope === 'worktree';
    return text === undefined || scope === 'command' ? [] : [{ ...entryOf(text), local }];
  });
};

/** The entries of the repository and the worktree, read as latin1. */
export const ownEntries = async (git: GitAt<Checkout>): Promise<ConfigEntry[]> =>
  (await listSettings(git, 'latin1')).filter(({ local }) => local);

/** Parses a listing without scopes. */
export const entriesIn = (listing: string): ConfigEntry[] =>
  listing.split('\0').slice(0, -1).map(entryOf);

const entryOf = (text = ''): ConfigEntry => {
  const end = text.indexOf('\n');
  return end < 0
    ? { key: text, value: undefined }
    : { key: text.slice(0, end), value: text.slice(end + 1) };
};

/** The value of a key, the last one if there are several; undefined without one. git reads a key without a value as true. */
export const valueIn = (entries: readonly ConfigEntry[], key: string): string | undefined => {
  const found = entries.findLast((entry) => entry.key === key);
  return found && (found.value ?? 'true');
};

/** Whether git reads a value as true; without a value it is false. */
export const isTrue = (value = 'false'): boolean =>
  /^(?:true|yes|on|-?[1-9]\d*[kmg]?)$/i.test(value);

/** Formats entries as a configuration file, in their order. */
export const configText = (entries: readonly ConfigEntry[]): string =>
  entries.map(({ key, value }) => `${sectionOf(key)}\n\t${nameOf(key)}${said(value)}\n`).join('');

const nameOf = (key: string): string => key.slice(key.lastIndexOf('.') + 1);

const sectionOf = (key: string): string => {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
  if (first === last) return `[${key.slice(0, first)}]`;
  const sub = key.slice(first + 1, last).replaceAll(/["\\]/g, '\\$&');
  return `[${key.slice(0, first)} "${sub}"]`;
};

const said = (value: string | undefined): string => {
  if (value === undefined) return '';
  const quoted = value
    .replaceAll(/["\\]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replaceAll('\b', '\\b');
  return ` = "${quoted}"`;
};

const PIECES = [
  '(?<blank>\\s+|[#;][^\\n]*)',
  '\\[(?<section>[A-Za-z0-9.-]+)(?:[ \\t]+"(?<sub>(?:[^"\\\\\\n]|\\\\[^\\n])*)")?\\]',
  '(?<name>[A-Za-z][A-Za-z0-9-]*)[ \\t]*(?:=(?<value>(?:[^\\n"\\\\#;]|\\\\[ntb"\\\\\\n]|"(?:[^"\\\\\\n]|\\\\[ntb"\\\\\\n])*")*)|(?=[\\n#;]|$))',
].join('|');

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\n': '' };

/**
 * Parses a git configuration file as git does; an include is an entry like any other. Undefined if git would reject the
 * file.
 */
export const entriesOfFile = (file: string): ConfigEntry[] | undefined => {
  const text = file.replace(/^(?:\uFEFF|\xEF\xBB\xBF)/, '').replaceAll('\r\n', '\n');
  const piece = new RegExp(PIECES, 'y');
  const found: ConfigEntry[] = [];
  let prefix: string | undefined;
  while (piece.lastIndex < text.length) {
    const { section, sub, name, value } = piece.exec(text)?.groups ?? { name: '' };
    if (section !== undefined) prefix = prefixOf(section, sub);
    if (name === undefined) continue;
    if (name === '' || prefix === undefined) return undefined;
    found.push({ key: prefix + name.toLowerCase(), value: value && plainValue(value) });
  }
  return found;
};

/**
 * The entries of several files, the common case without a git process. Undefined if one is unreadable, would be rejected by git,
 * or includes others.
 */
export const plainEntries = (files: readonly (string | undefined)[]): ConfigEntry[] | undefined => {
  const entries = files.map((text) => entriesOfFile(text ?? '['));
  const isPlain = entries.every(
    (each) => each?.some(({ key }) => key.startsWith('include')) === false,
  );
  return isPlain ? entries.flatMap((each) => each ?? []) : undefined;
};

const prefixOf = (section: string, sub: string | undefined): string =>
  sub === undefined
    ? `${section.toLowerCase()}.`
    : `${section.toLowerCase()}.${sub.replaceAll(/\\(.)/g, '$1')}.`;

const plainValue = (written: string): string =>
  written
    .trim()
    .replaceAll(/"|\\([\s\S])/g, (_, escaped?: string) =>
      escaped === undefined ? '' : (ESCAPED[escaped] ?? escaped),
    );

/**
 * The text of the repository's and the worktree's configuration files, read as latin1. A missing file counts as empty.
 * Undefined if one is a link, a pipe, or too long.
 */
export const settingsText = ({ git_dir, common_dir }: Checkout): string | undefined => {
  const texts = [join(common_dir, 'config'), join(git_dir, 'config.worktree')].map((path) =>
    orElse(() => orElse(() => readPlain(path, SETTINGS_BYTES), '', 'ENOENT'), undefined),
  );
  return texts.includes(undefined) ? undefined : texts.join('\n');
};

/** The operator's configuration files outside of repositories, in git's order. */
export const userConfigFiles = ({
  HOME = '/',
  XDG_CONFIG_HOME = join(HOME, '.config'),
}: Environment): string[] => [
  '/etc/gitconfig',
  join(XDG_CONFIG_HOME, 'git/config'),
  join(HOME, '.gitconfig'),
];

/** The longest configuration file that is read. */
export const SETTINGS_BYTES = 256 * 1024;
