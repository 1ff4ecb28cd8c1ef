import {
  closeSync,
  constants,
  type Dir,
  type Dirent,
  existsSync,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { orElse } from '../../../store/base/attempt.ts';
import { onDisk } from '../../tools/git/run/index-copy.ts';

/** A directory below the top, by its path from there. Names are read as latin1, byte for byte. */
export interface WalkedDirectory {
  path: string;
  entries: readonly WalkedEntry[];
}

interface WalkedEntry {
  name: string;
  kind: 'directory' | 'file' | 'link' | 'special';
}

interface Walk {
  /** Answers the names of the directories to go into. */
  visit: (directory: WalkedDirectory) => readonly string[];
  /** Those of these directories that are left alone. */
  leave?: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Called with the path on disk, before a directory is opened. */
  before?: (path: Buffer) => void;
  most?: WalkBounds;
}

/** After so many a walk stops. */
export interface WalkBounds {
  directories: number;
  entries: number;
}

const MOST: WalkBounds = { directories: 500_000, entries: 5_000_000 };

/**
 * Visits a directory and all below it, the upper ones first, through no link, and not in one go. Answers the directories
 * that were not looked into: those that are not what they were listed as, and all that remain where a bound is reached.
 */
export const walk = async (root: string, { most = MOST, ...how }: Walk): Promise<string[]> => {
  const left = { ...most };
  const top = orElse(() => realpathSync.native(root, 'latin1'), root);
  const unseen: string[] = [];
  let level = [''];
  while (level.length > 0) {
    const below: string[] = [];
    for (const path of level) {
      const entries = await nextEntries(root, { path, top, left, ...how });
      if (entries === undefined) unseen.push(path);
      else if (entries !== 'closed')
        below.push(...how.visit({ path, entries }).map((name) => pathIn(path, name)));
    }
    const ignored = await how.leave?.(below);
    level = below.filter((path) => ignored?.has(path) !== true);
  }
  return unseen;
};

const nextEntries = async (root: string, opening: Opening): ReturnType<typeof entriesAt> => {
  const { left } = opening;
  left.directories -= 1;
  if (left.directories % PAUSE === 0) await pause();
  return isSpent(left) ? undefined : entriesAt(root, opening);
};

const isSpent = ({ directories, entries }: WalkBounds): boolean => directories < 0 || entries < 0;

const pathIn = (path: string, name: string): string => (path === '' ? name : `${path}/${name}`);

// So often the others get their turn.
const PAUSE = 64;

const pause = (): Promise<void> => new Promise((done) => void setImmediate(done));

interface Opening extends Pick<Walk, 'before'> {
  path: string;
  /** The root without links, read as latin1. */
  top: string;
  left: WalkBounds;
}

// Undefined for what cannot be looked into, or not wholly.
const entriesAt = async (
  root: string,
  { path, top, left, before }: Opening,
): Promise<WalkedEntry[] | 'closed' | undefined> => {
  const at = path === '' ? Buffer.from(root) : onDisk({ path: root }, path);
  let descriptor: number | undefined;
  try {
    before?.(at);
    descriptor = openSync(at, FLAGS);
    return isInPlace(descriptor, { top, at, path })
      ? await listed(opendirSync(openAs(descriptor, at), { encoding: 'latin1' }), left)
      : undefined;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // Another user's: whose git would run here does not get in, either.
    return code === 'ENOENT' || code === 'EACCES' ? 'closed' : undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
};

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
const FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;

const DESCRIPTORS = '/proc/self/fd';
const hasDescriptors = process.platform === 'linux' && existsSync(DESCRIPTORS);

const openAs = (descriptor: number, at: Buffer): string | Buffer =>
  hasDescriptors ? `${DESCRIPTORS}/${descriptor}` : at;

interface Meant extends Pick<Opening, 'path' | 'top'> {
  at: Buffer;
}

// A link on the way leads elsewhere. Linux tells where what is open is; elsewhere the way is looked at again.
const isInPlace = (descriptor: number, { top, at, path }: Meant): boolean => {
  const meant = path === '' ? top : `${top}/${path}`;
  if (hasDescriptors) return readlinkSync(`${DESCRIPTORS}/${descriptor}`, 'latin1') === meant;
  const [held, there] = [fstatSync(descriptor), lstatSync(at)];
  const isSame = held.ino === there.ino && held.dev === there.dev;
  return isSame && realpathSync.native(at, 'latin1') === meant;
};

const listed = async (dir: Dir, left: WalkBounds): Promise<WalkedEntry[] | undefined> => {
  const entries: WalkedEntry[] = [];
  try {
    for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) {
      left.entries -= 1;
      if (left.entries < 0) return undefined;
      entries.push({ name: entry.name, kind: kindOf(entry) });
      if (left.entries % (PAUSE * PAUSE) === 0) await pause();
    }
    return entries;
  } finally {
    dir.closeSync();
  }
};

const kindOf = (entry: Dirent): WalkedEntry['kind'] => {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'special';
};
