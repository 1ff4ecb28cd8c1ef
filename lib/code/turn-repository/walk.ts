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

/** A directory by its path relative to the root. Names are decoded as latin1 to keep every byte. */
export interface WalkedDirectory {
  path: string;
  entries: readonly WalkedEntry[];
}

interface WalkedEntry {
  name: string;
  kind: 'directory' | 'file' | 'link' | 'special';
}

interface Walk {
  /** Returns the names of the subdirectories to enter. */
  visit: (directory: WalkedDirectory) => readonly string[];
  /** Returns those of these directories to skip. */
  leave?: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Called with the path on disk, before a directory is opened. */
  before?: (path: Buffer) => void;
  most?: WalkBounds;
}

/** The limits after which a walk stops. */
export interface WalkBounds {
  directories: number;
  entries: number;
}

const MOST: WalkBounds = { directories: 500_000, entries: 5_000_000 };

/**
 * Visits a directory tree breadth first without following links, and yields to the event loop on the way. Returns the
 * directories that were not read: those that were replaced meanwhile, and all that remain when a limit is reached.
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

// Directories between two yields to the event loop.
const PAUSE = 64;

const pause = (): Promise<void> => new Promise((done) => void setImmediate(done));

interface Opening extends Pick<Walk, 'before'> {
  path: string;
  /** The root without links, read as latin1. */
  top: string;
  left: WalkBounds;
}

// Undefined if the directory cannot be read completely.
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
    // EACCES: the directory belongs to another user, and git running as this user cannot enter it either.
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

// A parent may have become a link. Linux reports the path of an open descriptor; other systems compare the path again.
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
