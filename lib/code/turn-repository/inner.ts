import { createHash } from 'node:crypto';
import { chmodSync, type Dirent, lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { onDisk } from '../../tools/git/run/index-file.ts';
import { plainText } from '../../tools/git/run/plain-file.ts';

/** The repositories inside a worktree, by the paths of their directories: read as latin1, byte for byte. */
interface Inner {
  paths: string[];
  /** Those that are a git directory themselves, without a `.git`. */
  bare: string[];
  /** SHA-256 of all `.gitignore` files. */
  ignores: string;
}

/**
 * The repositories inside a worktree, submodules among them. Where git ignores a directory nobody looks: but where the
 * rules are other ones than `known`, they are not believed, and a directory that was shut to its owner is opened.
 */
export const innerRepositories = async (
  git: GitAt<GitWorktree>,
  known?: string,
): Promise<Inner> => {
  if (known !== undefined) openUp(git.place.path);
  const found = await walk(git.place.path, await ignoredIn(git), known !== undefined);
  return known === undefined || known === found.ignores
    ? found
    : walk(git.place.path, new Set(), true);
};

const ignoredIn = async (git: GitAt<GitWorktree>): Promise<Set<string>> => {
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
  const listed = await git.names(args);
  return new Set(listed.flatMap((path) => (path.endsWith('/') ? [path.slice(0, -1)] : [])));
};

const walk = async (
  root: string,
  ignored: ReadonlySet<string>,
  open_up: boolean,
): Promise<Inner> => {
  const rules = createHash('sha256');
  const paths: string[] = [];
  const bare: string[] = [];
  const open = [''];
  for (let dir = open.shift(); dir !== undefined; dir = open.shift()) {
    const at = onDisk({ path: root }, dir);
    if (open_up) openUp(at);
    const entries = await entriesAt(at);
    const names = new Set(entries.map(({ name }) => name));
    const is = kindsOf(dir, names);
    if (is.inner) paths.push(dir);
    if (names.has('.gitignore')) rules.update(`${dir}\0${rulesIn(root, dir)}\0`);
    if (is.bare) bare.push(dir);
    else open.push(...directoriesOf(dir, entries).filter((path) => !ignored.has(path)));
  }
  return { paths, bare, ignores: rules.digest('hex') };
};

const entriesAt = (dir: Buffer): Promise<Dirent[]> =>
  readdir(dir, { withFileTypes: true, encoding: 'latin1' }).catch(() => []);

const rulesIn = (root: string, dir: string): string =>
  plainText(onDisk({ path: root }, `${dir}/.gitignore`), MOST_BYTES) ?? '';

const directoriesOf = (dir: string, entries: readonly Dirent[]): string[] =>
  entries
    .filter((entry) => entry.isDirectory() && entry.name !== '.git')
    .map(({ name }) => (dir === '' ? name : `${dir}/${name}`))
    .toSorted();

// What git takes for a repository where it stands in it.
const kindsOf = (dir: string, names: ReadonlySet<string>): { inner: boolean; bare: boolean } => {
  if (dir === '') return { inner: false, bare: false };
  const isBare = names.has('commondir') || (names.has('objects') && names.has('refs'));
  return { inner: names.has('.git'), bare: names.has('HEAD') && isBare };
};

/** Gives the owner of a directory leave to read, write and enter it. A link is none. */
export const openUp = (dir: string | Buffer): void => {
  const found = lstatSync(dir, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true || (found.mode & OWNER) === OWNER) return;
  try {
    chmodSync(dir, (found.mode & 0o7777) | OWNER);
  } catch {
    // It is another user's: what follows says what it cannot do.
  }
};

const OWNER = 0o700;

const MOST_BYTES = 1_048_576;
