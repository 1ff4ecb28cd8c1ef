// Of this machine or of this moment only, wherever they stand. Case does not tell them apart on every file system.
const LEFT_OUT = [
  /(?:^|\/)\.(?:dossier|git)(?:\/|$)/i,
  // Who works right now, and other programs' locks.
  /(?:^|\/)sessions\/lock\.md$/i,
  /\.lock\//,
  // Temporary files and editors' copies: `x.tmp`, `x.md~`, `.x.md.swp`, `#x.md#`, `.#x.md`.
  /\.tmp(?:\/|$)/,
  /~(?:\/|$)/,
  /(?:^|\/)\.[^/]+\.sw[a-z](?:\/|$)/,
  /(?:^|\/)#[^/]+#(?:\/|$)/,
  /(?:^|\/)\.#[^/]+(?:\/|$)/,
  // What is written before it takes a file's place: JetBrains, rsync (`.x.md.AbCdEf`), GLib; and what macOS leaves.
  /___jb_(?:tmp|old)___$/,
  /(?:^|\/)\.[^/]+\.md\.[A-Za-z0-9]{6}$/,
  /(?:^|\/)\.goutputstream-[^/]+$/,
  /(?:^|\/)\.DS_Store$/,
];

/** Whether an archive goes without it. The path is relative to the workspace; that of a directory ends with a slash. */
export const isLeftOut = (path: string): boolean => LEFT_OUT.some((rule) => rule.test(path));

/** Why a path, relative to the workspace, cannot be the name of an archive's entry as it is; undefined when it can. */
export const whyUnfit = (path: string): string | undefined =>
  UNFIT.find(([rule]) => rule.test(path))?.[1];

const UNFIT: readonly (readonly [RegExp, string])[] = [
  [/\p{Cc}/u, 'its name holds a control character'],
  [/\\/, 'its name holds a backslash'],
  // Read as a drive or a scheme.
  [/^\w+:/, 'its name begins with a word and a colon'],
  [/^$|^\/|\/$|\/\/|(?:^|\/)\.{1,2}(?:\/|$)/, 'it is no plain relative path'],
  [/^manifest\.json$/, "it has the name of the archive's own manifest"],
];

/** What the files of an archive are, by their paths. Nothing below a Work item is another. */
export const fileCounts = (paths: readonly string[]) => {
  const cases = casesIn(paths);
  const known = new Set(cases);
  const sessions = paths.filter((path) => known.has(SESSION.exec(path)?.[1] ?? ''));
  return { cases: cases.length, sessions: sessions.length, files: paths.length };
};

/** The directories of the Work items whose files these are. */
export const casesIn = (paths: readonly string[]): string[] => {
  const holders = new Set(paths.flatMap((path) => CASE.exec(path)?.[1] ?? []));
  return [...holders].filter((dir) => !ancestorsOf(dir).some((above) => holders.has(above)));
};

// Names that begin with a dot are no one's.
const CASE = /^(cases(?:\/[^./][^/]*)*)\/case\.md$/;
const SESSION = /^(.+)\/sessions\/[^/]+\/session\.md$/;

/** The directories that a path lies in, the outermost first. */
export const ancestorsOf = (path: string): string[] => {
  const parts = path.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
};
