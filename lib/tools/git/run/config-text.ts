/** One line of a listing (`config --list -z`): its value undefined where it has none, which git takes for true. */
export interface ConfigEntry {
  key: string;
  value: string | undefined;
}

/** The repository's and the worktree's own part of `config --list -z --show-scope`, names and values read as latin1. */
export const ownEntries = (listing: string): ConfigEntry[] => {
  const fields = listing.split('\0');
  const found: ConfigEntry[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2)
    if (fields[at] === 'local' || fields[at] === 'worktree') found.push(entryOf(fields[at + 1]));
  return found;
};

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
