import { sha256 } from './sha256.ts';

const MARKDOWN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,124}\.md$/;

/** Whether this is a valid memory file name: no separators, no leading dot, `.md`, at most 128 characters. */
export const isMarkdownName = (name: string): boolean => MARKDOWN_NAME.test(name);

/** Whether a file may hold a record: not `lock.md`, nor a copy made by an editor or tool (`x.md~`, `.x.md.swp`, `#x.md#`). */
export const isRecordName = (name: string): boolean =>
  isMarkdownName(name) && name !== 'lock.md' && !OTHER_VERSION.test(name);

// Conflict copies of Syncthing, Resilio, ownCloud and `git mergetool`, which have the id of the original.
const OTHER_VERSION =
  /(?:\.sync-conflict-\d.*|\.Conflict|_conflict-\d.*|_(?:BACKUP|BASE|LOCAL|REMOTE)_\d+)\.md$/;

/** The directory of a Work item: its title and the start of its id. ASCII only, so that every file system keeps it. */
export const caseDirName = (title: string, id: string): string => `${slug(title)}-${shortId(id)}`;

/** Whether this is a UUID, in lower case. */
export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

export const shortId = (id: string): string => id.slice(0, 8);

export const monthOf = (date: Date): string => date.toISOString().slice(0, 7);

/** A time of a record in the form that sorts by time: a hand-made one may have another zone, or no milliseconds. */
export const inUtc = (time: string): string => {
  const isSuch = time.length === IN_UTC && time.endsWith('Z');
  // The journal of an older release may have a leap second.
  const parsed = isSuch ? Number.NaN : Date.parse(time);
  return Number.isNaN(parsed) ? time : new Date(parsed).toISOString();
};

const IN_UTC = '2026-01-31T12:30:05.000Z'.length;

/** `2026-01-31T12-30-05Z`: sorts by time, and is valid on every file system. */
export const timeName = (date: Date): string =>
  `${date.toISOString().slice(0, 19).replaceAll(':', '-')}Z`;

/** The file name of a record created at that time. */
export const timedName = (at: string, id: string): string =>
  `${timeName(new Date(at))}-${shortId(id)}.md`;

/** The directory of a session. Milliseconds keep the order of creation; older releases wrote none. */
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

/** A UUID v4 derived from text: the same text always gives the same id. */
export const idOfText = (text: string): string => {
  const hex = sha256(text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** The ETag of a file: the first 32 hex digits of its SHA-256, as `sha256sum` prints it. */
export const etagOf = (sha: string): string => sha.slice(0, 32);

/**
 * Whether the current ETag, undefined for an absent file, meets an If-Match (RFC 9110, 13.1.1): undefined for none, `*` for
 * any file that exists, or ETags with commas.
 */
export const meets = (ifMatch: string | undefined, etag: string | undefined): boolean =>
  ifMatch === undefined ||
  (etag !== undefined && (ifMatch === '*' || ifMatch.split(',').includes(etag)));
