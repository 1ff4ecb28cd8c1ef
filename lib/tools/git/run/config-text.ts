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
