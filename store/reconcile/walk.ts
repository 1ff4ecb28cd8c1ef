import { type Dirent, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { hasCode, isFailingDisk } from '../base/attempt.ts';
import { Problem, toProblem } from '../front-matter/problem.ts';
import { type Standing, standing } from '../fs/plain-path.ts';
import { CASE_FILE } from '../layout.ts';

const DEEPEST = 6;

/**
 * A directory of the walk: a Work item (it has a case.md), a folder of Work items, or one that is not entered: without read
 * permission, on a disk that fails, a link, or with a name that is not UTF-8.
 */
export interface WalkedDirectory {
  dir: string;
  kind: 'item' | 'folder' | 'closed' | 'failing' | 'link' | 'misnamed';
  /** What is in it. */
  names: readonly string[];
}

/** Whether a directory is there, but what is in it cannot be seen. */
export const isClosed = (kind: WalkedDirectory['kind'] | undefined): boolean =>
  kind === 'closed' || kind === 'failing';

/** Why the walk does not enter a directory. Work items in it are unknown. */
export const FAULTS: Record<Exclude<WalkedDirectory['kind'], 'item' | 'folder'>, Problem> = {
  closed: toProblem(Object.assign(new Error(), { code: 'EACCES' })),
  failing: new Problem(
    'unreadable',
    'The disk fails when this directory is listed, so what is in it may be outdated. Check the disk, or restore the directory from a backup',
  ),
  link: new Problem(
    'symbolic_link',
    'Symbolic links are not followed, so Work items behind this one are left out. Put the directory itself here',
  ),
  misnamed: new Problem(
    'unreadable_name',
    'The name of this directory is not UTF-8, so Work items in it are left out. Rename it',
  ),
};

/**
 * All Work items and folders under `from`, as paths relative to the workspace. Directories below a Work item and names that
 * begin with a dot are left out, and so is what `skip` accepts.
 */
export const walk = function* (
  root: string,
  from = 'cases',
  skip: (dir: string) => boolean = () => false,
): Generator<WalkedDirectory> {
  if (standingOf(root, from) !== 'gone') yield* walkBelow(root, from, skip);
};

/**
 * Whether a directory that the walk may come to is there. One whose name begins with a dot, as editors and tools leave them,
 * is neither a Work item nor a folder of Work items, and so is what is below it.
 */
export const standingOf = (root: string, dir: string): Standing =>
  dir.includes('/.') ? 'gone' : standing(root, join(root, dir));

const walkBelow = function* (
  root: string,
  from: string,
  skip: (dir: string) => boolean,
): Generator<WalkedDirectory> {
  const entries = readEntries(root, from);
  if (typeof entries === 'string') yield { dir: from, kind: entries, names: [] };
  if (!Array.isArray(entries)) return;
  const names = entries.map(({ name }) => name);
  const kind = names.includes(CASE_FILE) ? 'item' : 'folder';
  yield { dir: from, kind, names };
  if (kind === 'item' || from.split('/').length > DEEPEST) return;
  // What a link leads to is not looked at: the disk behind it may not answer.
  for (const dir of pathsOf(from, entries, (entry) => entry.isSymbolicLink()))
    yield { dir, kind: 'link', names: [] };
  for (const dir of pathsOf(from, entries, (entry) => entry.isDirectory()))
    if (!skip(dir)) yield* walkBelow(root, dir, skip);
};

const pathsOf = (
  from: string,
  entries: readonly Dirent[],
  isWanted: (entry: Dirent) => boolean,
): string[] =>
  entries
    .filter((entry) => !entry.name.startsWith('.') && isWanted(entry))
    .map(({ name }) => posix.join(from, name));

const readEntries = (
  root: string,
  dir: string,
): Dirent[] | 'closed' | 'failing' | 'misnamed' | undefined => {
  try {
    return readdirSync(join(root, dir), { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM')) return 'closed';
    if (isFailingDisk(error)) return 'failing';
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return isMisread(dir) ? 'misnamed' : undefined;
    throw error;
  }
};

/** Whether a path may stand for one that is not UTF-8: Node replaces such bytes, and then finds nothing there. */
export const isMisread = (path: string): boolean => path.includes('\ufffd');
