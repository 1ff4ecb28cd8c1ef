import { join } from 'node:path';
import { orElse } from '../../../../store/base/or-else.ts';
import type { Checkout } from './git.ts';
import { readPlain } from './plain-file.ts';

/** One line of a listing (`config --list -z`): its value undefined where it has none, which git takes for true. */
export interface ConfigEntry {
  key: string;
  value: string | undefined;
}

interface ScopedEntry extends ConfigEntry {
  scope: string;
  /** Said by the repository or the worktree, not by the operator or the system. */
  local: boolean;
}

/** A listing with scopes (`config --list -z --show-scope`). */
export const scopedEntries = (listing: string): ScopedEntry[] => {
  const fields = listing.split('\0');
  return fields.flatMap((scope, at) => {
    const text = at % 2 === 0 ? fields[at + 1] : undefined;
    const local = scope === 'local' || scope === 'worktree';
    return text === undefined ? [] : [{ ...entryOf(text), scope, local }];
  });
};

/** The repository's and the worktree's own part of it. */
export const ownEntries = (listing: string): ConfigEntry[] =>
  scopedEntries(listing).filter(({ local }) => local);

/** The same of one file's listing, without scopes. */
export const entriesIn = (listing: string): ConfigEntry[] =>
  listing.split('\0').slice(0, -1).map(entryOf);

const entryOf = (text = ''): ConfigEntry => {
  const end = text.indexOf('\n');
  return end < 0
    ? { key: text, value: undefined }
    : { key: text.slice(0, end), value: text.slice(end + 1) };
};

/** A file that says what entries say, in their order. */
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
 * What a file of git's settings says, as git reads it, an entry each: one that includes a file is an entry as others are.
 * Undefined where git would not read it.
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
 * What the files say that hold the repository's and the worktree's own settings, a character a byte. One that is not
 * there says nothing. Undefined where one cannot be taken at its word: a link, a pipe, or very long.
 */
export const settingsText = ({ git_dir, common_dir }: Checkout): string | undefined => {
  const texts = [join(common_dir, 'config'), join(git_dir, 'config.worktree')].map((path) =>
    orElse(() => orElse(() => readPlain(path, SETTINGS_BYTES), '', 'ENOENT'), undefined),
  );
  return texts.includes(undefined) ? undefined : texts.join('\n');
};

/** Longer settings are not read. */
export const SETTINGS_BYTES = 256 * 1024;
