import { sha256 } from './sha256.ts';

const MARKDOWN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,124}\.md$/;

/** A memory file's name: no separators, no leading dot, `.md`, at most 128 characters (decisions: memory). */
export const isMarkdownName = (name: string): boolean => MARKDOWN_NAME.test(name);

/** Not what editors and tools leave beside a file (`x.md~`, `.x.md.swp`, `#x.md#`), nor what is ours (`lock.md`). */
export const isRecordName = (name: string): boolean =>
  isMarkdownName(name) && name !== 'lock.md' && !OTHER_VERSION.test(name);

// What Syncthing, Resilio, ownCloud and `git mergetool` call the other version of a file: with the same id, and not ours
// to choose between.
const OTHER_VERSION =
  /(?:\.sync-conflict-\d.*|\.Conflict|_conflict-\d.*|_(?:BACKUP|BASE|LOCAL|REMOTE)_\d+)\.md$/;

/** The directory of a Work item: a readable title and the start of its id. Only ASCII, so that it is the same on every file system. */
export const caseDirName = (title: string, id: string): string => `${slug(title)}-${shortId(id)}`;

export const shortId = (id: string): string => id.slice(0, 8);

export const monthOf = (date: Date): string => date.toISOString().slice(0, 7);

/** `2026-01-31T12-30-05Z`: sorts by time, and no file system minds it. */
export const timeName = (date: Date): string =>
  `${date.toISOString().slice(0, 19).replaceAll(':', '-')}Z`;

/** The file of a record that was made at that time. */
export const timedName = (at: string, id: string): string =>
  `${timeName(new Date(at))}-${shortId(id)}.md`;

/** The directory of a session: with milliseconds, so that it sorts as sessions were made. Older releases wrote none. */
export const sessionDirName = (created_at: string, id: string): string =>
  `${new Date(created_at).toISOString().replaceAll(':', '-')}-${shortId(id)}`;

const SLUG_LENGTH = 48;

const slug = (title: string): string => {
  const words = title
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH)
    .replace(/^-+|-+$/g, '');
  return words === '' ? 'item' : words;
};

/** The same id for the same text every time, in the form of a UUID v4: for what needs an id that nobody wrote down. */
export const idOfText = (text: string): string => {
  const hex = sha256(text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** The entity tag of a file: the first 32 hex digits of its SHA-256, so that `sha256sum` tells it too. */
export const etagOf = (sha: string): string => sha.slice(0, 32);
