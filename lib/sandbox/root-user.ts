import {
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs';
import { delimiter, dirname, isAbsolute } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import { isAtOrBelow } from '../../store/base/paths.ts';
import type { Environment } from '../tools/process/environment.ts';
import { bind, hide, real } from './mounts.ts';

const ID = '1000';
const isRoot = process.getuid?.() === 0;

/** Arguments for bubblewrap: root becomes the user 1000 inside, mapped to root. Other users keep their id. */
export const USER_ARGUMENTS: readonly string[] = isRoot
  ? ['--unshare-user', '--uid', ID, '--gid', ID]
  : [];

/** Binds the passwd file that `nameFor` passes over the system's own. */
export const PASSWD_ARGUMENTS: readonly string[] = isRoot
  ? ['--ro-bind-data', '9', '/etc/passwd']
  : [];

/**
 * For root, makes kernel files read-only and hides files that only root can read: the mapped root user owns them in any
 * namespace, and a program in core_pattern would run outside, as root. Programs on PATH and named paths stay visible. For
 * other users nothing is needed, and mounts over /proc would keep an agent's own sandbox from mounting one.
 */
export const rootOnlyMounts = ({ PATH = '' }: Environment, named: readonly string[]): string[] => {
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

/**
 * The command that passes a passwd file to bubblewrap: some programs need a name for their user. Of a long file of the system it
 * has the first names: they are an argument, which has a limit.
 */
export const nameFor = ({ HOME = '/' }: Environment, passwd = '/etc/passwd'): string[] =>
  isRoot
    ? ['/bin/sh', '-c', SCRIPT, 'sh', `${othersIn(passwd)}agent:x:${ID}:${ID}::${HOME}:/bin/sh`]
    : [];

const SCRIPT = 'names=$1; shift; exec "$@" 9<<EOF\n$names\nEOF\n';
const MOST_NAMED = 32_768;

const othersIn = (passwd: string): string => {
  const lines = orElse(() => readFileSync(passwd, 'utf8'), '').split('\n');
  const kept = lines.filter((line) => line !== '' && line.split(':')[2] !== ID);
  const text = kept.map((line) => `${line}\n`).join('');
  return text.length <= MOST_NAMED ? text : text.slice(0, text.lastIndexOf('\n', MOST_NAMED) + 1);
};

/** System directories that are searched whole. */
const SYSTEM = ['/etc', '/var', '/opt', '/srv', '/usr/local', '/boot'];
/** Directories that are not searched: public files of the distribution, mounts of the sandbox, and hidden homes. */
const OTHERWISE = [
  ...['/proc', '/sys', '/dev', '/run', '/tmp', '/home', '/root'],
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'],
];
/**
 * Its files are short-lived, and bubblewrap fails to cover a file that is gone. So the whole directory is covered, and
 * directories that others may read are bound back.
 */
const SHARED = '/var/tmp';

const MOST_ENTRIES = 20_000;
// Each covered path is a mount of every run.
const MOST_IN_ONE = 64;

/**
 * Files and directories outside homes that only root may read, to be covered in a sandbox started by root. Includes
 * directories beyond the search limit. Excludes parents of `needed` paths.
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

/** Directories in /var/tmp that are bound back, first those that contain a `needed` path. */
const shownAgain = (needed: readonly string[]): string[] => {
  const { shut, below } = contentOf(SHARED) ?? NOTHING;
  const isNeeded: Needed = (path) => needed.some((one) => isAtOrBelow(one, path));
  return [...shut.filter(isNeeded), ...below.filter(isNeeded), ...below]
    .filter((path, at, all) => all.indexOf(path) === at)
    .slice(0, MOST_IN_ONE);
};

// Breadth first, so that the search limit cuts off the deepest directories.
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
  /** Entries that other users may not read. */
  shut: string[];
  /** The other directories. */
  below: string[];
  /** The number of all entries. */
  count: number;
}

interface Known extends Content {
  /** Changes if entries are added or removed, or the directory's mode changes. */
  stamp: string;
  /** When it was read, by a clock that nobody sets. */
  at: number;
}

const known = new Map<string, Known>();
// A changed mode of a file does not change its directory.
const KNOWN_MS = 60_000;
// Like git's racy index entries: a change in the same moment may be missed.
const RACY_MS = 2000;
const MOST_KNOWN = 50_000;

/** The content of a directory without links; undefined if it has too many entries. */
const contentOf = (dir: string): Content | undefined => {
  const found = lstatSync(dir, { throwIfNoEntry: false });
  if (found === undefined) return NOTHING;
  const stamp = `${found.ino} ${found.mtimeMs} ${found.ctimeMs}`;
  const before = known.get(dir);
  const now = performance.now();
  if (before?.stamp === stamp && now - before.at < KNOWN_MS) return before;
  const content = look(dir);
  if (known.size > MOST_KNOWN) known.clear();
  known.delete(dir);
  // Thousands, and V8 gives each object of `{ ...one, more }` a hidden class of its own.
  if (content !== undefined && Date.now() - found.mtimeMs > RACY_MS)
    known.set(dir, { stamp, at: now, ...content });
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
  // `join` would be a sixth of the total time.
  const path = dir === '/' ? `/${name}` : `${dir}/${name}`;
  const found = orElse(() => lstatSync(path, { throwIfNoEntry: false }), undefined);
  if (found === undefined || !(found.isFile() || found.isDirectory())) return;
  if (isShut(found)) shut.push(path);
  else if (found.isDirectory()) below.push(path);
};

const groups = [0, ...(process.getgroups?.() ?? [])];

/**
 * Whether a path is in a directory that root cannot enter without its capabilities, as in the sandbox. bubblewrap could not
 * cover it there.
 */
export const isBeyondRoot = (path: string): boolean =>
  isRoot && directoriesOf(path).some((dir) => orElse(() => isBarred(statSync(dir)), true));

const directoriesOf = (path: string): string[] => {
  const above = dirname(path);
  return above === path ? [] : [above, ...directoriesOf(above)];
};

const isBarred = ({ mode, uid, gid }: Stats): boolean => {
  if (uid === 0) return (mode & constants.S_IXUSR) === 0;
  return (mode & (groups.includes(gid) ? constants.S_IXGRP : constants.S_IXOTH)) === 0;
};

const isShut = ({ mode, uid, gid }: Stats): boolean => {
  const needed = (mode & constants.S_IFMT) === constants.S_IFDIR ? 0o005 : 0o004;
  return (mode & needed) !== needed && (uid === 0 || groups.includes(gid));
};
