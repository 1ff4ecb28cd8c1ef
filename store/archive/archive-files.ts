import { parentsOf } from '../base/paths.ts';

// Files of this machine or of the moment, in any directory. Case-insensitive, as some file systems are.
const LEFT_OUT = [
  /(?:^|\/)\.(?:dossier|git)(?:\/|$)/i,
  // Session locks, and lock directories of other programs.
  /(?:^|\/)sessions\/lock\.md$/i,
  /\.lock\//,
  // Temporary files and editors' copies: `x.tmp`, `x.md~`, `.x.md.swp`, `#x.md#`, `.#x.md`.
  /\.tmp(?:\/|$)/,
  /~(?:\/|$)/,
  /(?:^|\/)\.[^/]+\.sw[a-z](?:\/|$)/,
  /(?:^|\/)#[^/]+#(?:\/|$)/,
  /(?:^|\/)\.#[^/]+(?:\/|$)/,
  // Temporary files of JetBrains, rsync (`.x.md.AbCdEf`) and GLib; Finder's metadata.
  /___jb_(?:tmp|old)___$/,
  /(?:^|\/)\.[^/]+\.md\.[A-Za-z0-9]{6}$/,
  /(?:^|\/)\.goutputstream-[^/]+$/,
  /(?:^|\/)\.DS_Store$/,
];

/** Whether archives leave this path out. It is relative to the workspace; that of a directory ends with a slash. */
export const isExcluded = (path: string): boolean => LEFT_OUT.some((rule) => rule.test(path));

/** Why a path, relative to the workspace, cannot be the name of an archive entry; undefined if it can. */
export const unfitReason = (path: string): string | undefined =>
  UNFIT.find(([rule]) => rule.test(path))?.[1];

const UNFIT: readonly (readonly [RegExp, string])[] = [
  [/\p{Cc}/u, 'its name contains a control character'],
  [/\\/, 'its name contains a backslash'],
  // Could be read as a drive or a URL scheme.
  [/^\w+:/, 'its name starts with a word and a colon'],
  [/^$|^\/|\/$|\/\/|(?:^|\/)\.{1,2}(?:\/|$)/, 'it is not a plain relative path'],
  [/^manifest\.json$/, "it has the name of the archive's own manifest"],
];

/** A path as a file system reads it that ignores case and Unicode form. */
export const foldPath = (path: string): string =>
  path
    .replace(/\p{Cf}/gu, '')
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+(?=\/|$)/g, '');

/** Counts Work items, sessions and files by their paths. Work items do not nest. */
export const fileCounts = (paths: readonly string[]) => {
  const cases = casesIn(paths);
  const known = new Set(cases);
  const sessions = paths.filter((path) => known.has(SESSION.exec(path)?.[1] ?? ''));
  return { cases: cases.length, sessions: sessions.length, files: paths.length };
};

/** The directories of the Work items among these files. */
export const casesIn = (paths: readonly string[]): string[] => {
  const holders = new Set(paths.flatMap((path) => CASE.exec(path)?.[1] ?? []));
  return [...holders].filter((dir) => !parentsOf(dir).some((above) => holders.has(above)));
};

// Names that start with a dot are not Work items.
const CASE = /^(cases(?:\/[^./][^/]*)*)\/case\.md$/;
const SESSION = /^(.+)\/sessions\/[^/]+\/session\.md$/;
