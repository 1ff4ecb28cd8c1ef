import { constants, existsSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { orElse } from '../../store/base/attempt.ts';
import { isAtOrBelow } from '../../store/base/paths.ts';

/** Where the system and its administrator keep files: looked at whole. */
const SYSTEM = ['/etc', '/var', '/opt', '/srv', '/usr/local', '/boot'];
/** What the distribution ships for everybody, what the sandbox has of its own, and homes, which are hidden whole. */
const OTHERWISE = [
  ...['/proc', '/sys', '/dev', '/run', '/tmp', '/home', '/root'],
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'],
];
/**
 * Everybody's, and of short life: what is there when it is looked at may be gone when it is to be covered, and bubblewrap
 * covers nothing that is gone. So the whole of it is covered, and what others may read is shown again.
 */
const SHARED = '/var/tmp';

const MOST_ENTRIES = 20_000;
// Each one is a mount of every run.
const MOST_IN_ONE = 64;

/**
 * What root alone may read outside of homes: the files and directories to be covered in a sandbox whose user is root outside.
 * A directory of the system's that is too far down to be looked at is one of them. What leads to a path `needed` is none.
 */
export const rootOnly = (needed: readonly string[]): string[] => {
  const isNeeded: Needed = (path) => needed.some((one) => isAtOrBelow(one, path));
  const { shut, below } = contentOf('/') ?? NOTHING;
  const others = below.filter((path) => ![...SYSTEM, ...OTHERWISE].includes(path));
  return [
    ...shut.filter((path) => ![...SYSTEM, ...OTHERWISE].includes(path) && !isNeeded(path)),
    ...SYSTEM.flatMap((place) => coveredIn(place, Number.POSITIVE_INFINITY, isNeeded)),
    ...(existsSync(SHARED) ? [SHARED] : []),
    ...others.flatMap((place) => coveredIn(place, 1, isNeeded)),
  ];
};

/** The directories that are shown again of what `rootOnly` covers whole, those first that lead to a path `needed`. */
export const shownAgain = (needed: readonly string[]): string[] => {
  const { shut, below } = contentOf(SHARED) ?? NOTHING;
  const isNeeded: Needed = (path) => needed.some((one) => isAtOrBelow(one, path));
  return [...shut.filter(isNeeded), ...below.filter(isNeeded), ...below]
    .filter((path, at, all) => all.indexOf(path) === at)
    .slice(0, MOST_IN_ONE);
};

// Level by level: where there is too much, the deepest is what is not looked at.
const coveredIn = (place: string, depth: number, isNeeded: Needed): string[] => {
  const covered: string[] = [];
  const budget = { left: MOST_ENTRIES };
  let level = [place];
  for (let at = 0; level.length > 0 && at <= depth; at += 1) {
    const found = level.map((dir) =>
      lookInto(dir, budget, (path) => path === place || isNeeded(path)),
    );
    covered.push(...found.flatMap((one) => one.covered));
    level = found.flatMap(({ below }) => below).filter((path) => path !== SHARED);
  }
  return covered;
};

const lookInto = (dir: string, budget: { left: number }, isNeeded: Needed) => {
  const content = budget.left > 0 ? contentOf(dir) : undefined;
  const { shut, below, count } = content ?? NOTHING;
  budget.left -= count;
  const covered = shut.filter((path) => !isNeeded(path));
  if ((content === undefined || covered.length > MOST_IN_ONE) && !isNeeded(dir))
    return { covered: [dir], below: [] };
  return { covered, below: [...below, ...shut.filter(isNeeded)] };
};

type Needed = (path: string) => boolean;

interface Content {
  /** What others may not read. */
  shut: string[];
  /** The other directories. */
  below: string[];
  /** How many entries there are in all. */
  count: number;
}

interface Known extends Content {
  /** Another one when entries were added or removed, or the directory's mode changed. */
  stamp: string;
  at: number;
}

const known = new Map<string, Known>();
// A file's own mode can change without a sign at its directory.
const KNOWN_MS = 60_000;
// As git does with its index: what changed in the same moment may not have been seen.
const RACY_MS = 2000;
const MOST_KNOWN = 50_000;

/** What is in a directory, links left out; undefined where there is too much. */
const contentOf = (dir: string): Content | undefined => {
  const found = lstatSync(dir, { throwIfNoEntry: false });
  if (found === undefined) return NOTHING;
  const stamp = `${found.ino} ${found.mtimeMs} ${found.ctimeMs}`;
  const before = known.get(dir);
  const now = Date.now();
  if (before?.stamp === stamp && now - before.at < KNOWN_MS) return before;
  const content = look(dir);
  if (known.size > MOST_KNOWN) known.clear();
  known.delete(dir);
  if (content !== undefined && now - found.mtimeMs > RACY_MS)
    known.set(dir, { ...content, stamp, at: now });
  return content;
};

const NOTHING: Content = { shut: [], below: [], count: 0 };

const look = (dir: string): Content | undefined => {
  const entries = orElse(() => readdirSync(dir, { withFileTypes: true }), []);
  if (entries.length > MOST_ENTRIES) return undefined;
  const content: Content = { shut: [], below: [], count: entries.length };
  for (const entry of entries) if (!entry.isSymbolicLink()) sortIn(content, dir, entry.name);
  return content;
};

const sortIn = ({ shut, below }: Content, dir: string, name: string): void => {
  // There are thousands of them: `join` would take a sixth of the time.
  const path = dir === '/' ? `/${name}` : `${dir}/${name}`;
  const found = orElse(() => lstatSync(path, { throwIfNoEntry: false }), undefined);
  if (found === undefined || !(found.isFile() || found.isDirectory())) return;
  if (isShut(found)) shut.push(path);
  else if (found.isDirectory()) below.push(path);
};

const groups = [0, ...(process.getgroups?.() ?? [])];

const isShut = ({ mode, uid, gid }: Stats): boolean => {
  const needed = (mode & constants.S_IFMT) === constants.S_IFDIR ? 0o005 : 0o004;
  return (mode & needed) !== needed && (uid === 0 || groups.includes(gid));
};
