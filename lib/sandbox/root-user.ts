import { constants, existsSync, lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { delimiter, isAbsolute } from 'node:path';
import { isAtOrBelow } from '../../store/base/at-or-below.ts';
import { orElse } from '../../store/base/or-else.ts';
import type { Environment } from '../tools/process/environment.ts';
import { bind, hide, real } from './mounts.ts';

const ID = '1000';
const isRoot = process.getuid?.() === 0;

/** For bubblewrap: who is root outside is somebody else inside, and what root owns is theirs. Others stay who they are. */
export const OWN_USER: readonly string[] = isRoot
  ? ['--unshare-user', '--uid', ID, '--gid', ID]
  : [];

/** What `nameFor` handed over, laid over the system's own. */
export const OWN_NAME: readonly string[] = isRoot ? ['--ro-bind-data', '9', '/etc/passwd'] : [];

/**
 * Who is root outside owns the kernel's files in any namespace: a program named in core_pattern would run outside, as
 * root. For others they are shut already, and covering them would keep an agent's own sandbox from having a /proc. Without a
 * capability root inside still is who it is outside: it is to see what every user sees, the programs of PATH and what is named.
 */
export const kernelFiles = ({ PATH = '' }: Environment, named: readonly string[]): string[] => {
  if (!isRoot) return [];
  const seen = ['sys', 'irq', 'bus', 'fs', 'acpi', 'scsi'].map((name) => `/proc/${name}`);
  const shut = ['sysrq-trigger', 'kcore', 'keys', 'mtrr'].map((name) => `/proc/${name}`);
  const needed = [process.execPath, ...PATH.split(delimiter), ...named].filter(isAbsolute);
  const everyNeeded = [...needed, ...real(needed)];
  const all = [...real(shut), ...rootOnly(everyNeeded)];
  const again = shownAgain(everyNeeded).flatMap((path) => ['--ro-bind-try', path, path]);
  return [
    ...[...bind('--ro-bind', seen), ...all.map(hide)].flatMap((one) => one.arguments),
    ...again,
  ];
};

/** Goes before bubblewrap and hands it the names of users: programs stop whose user has none. */
export const nameFor = ({ HOME = '/' }: Environment): string[] =>
  isRoot ? ['/bin/sh', '-c', SCRIPT, 'sh', `${others()}agent:x:${ID}:${ID}::${HOME}:/bin/sh`] : [];

const SCRIPT = 'names=$1; shift; exec "$@" 9<<EOF\n$names\nEOF\n';

const others = (): string => {
  const lines = orElse(() => readFileSync('/etc/passwd', 'utf8'), '').split('\n');
  const kept = lines.filter((line) => line !== '' && line.split(':')[2] !== ID);
  return kept.map((line) => `${line}\n`).join('');
};

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
const shownAgain = (needed: readonly string[]): string[] => {
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
