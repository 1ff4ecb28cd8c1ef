import { chmodSync, lstatSync } from 'node:fs';
import { type IgnoreRules, withIgnoreRules } from '../../tools/git/read/ignore-rules.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { type WalkBounds, type WalkedDirectory, walk } from './walk.ts';

/** The repositories inside a worktree, by the paths of their directories: read as latin1, byte for byte. */
interface NestedRepositories {
  paths: string[];
  /** Those that are a git directory themselves, without a `.git`. */
  bare: string[];
  /** Pipes and the like under a name that git reads wherever it is: it would wait for ever. */
  blocking: string[];
  /** Directories that were not looked into. */
  unseen: string[];
}

interface Looking {
  /** Directories that they ignore are left alone; without rules none is. */
  rules: IgnoreRules | undefined;
  /** Whether a directory that is shut to its owner is opened. */
  open_up: boolean;
  most?: WalkBounds | undefined;
}

/** The repositories inside a worktree, submodules among them. What git itself would ignore there now has no say. */
export const findNestedRepositories = async (
  git: GitAt<GitWorktree>,
  { rules, open_up, most }: Looking,
): Promise<NestedRepositories> => {
  const paths: string[] = [];
  const bare: string[] = [];
  const blocking: string[] = [];
  const visit = (directory: WalkedDirectory): string[] => {
    const is = kindsOf(directory);
    blocking.push(...blockingIn(directory));
    if (is.inner) paths.push(directory.path);
    if (is.bare) bare.push(directory.path);
    return directory.entries
      .flatMap(({ name, kind }) => (kind === 'directory' && name !== '.git' ? [name] : []))
      .toSorted();
  };
  const how = { visit, ...(open_up && { before: grantOwnerAccess }), ...(most && { most }) };
  const { path: root } = git.place;
  const unseen =
    rules === undefined
      ? await walk(root, how)
      : await withIgnoreRules(git, rules, (leave) => walk(root, { ...how, leave }));
  return { paths, bare, blocking, unseen };
};

// What git takes for a repository where it stands in it.
const kindsOf = ({ path, entries }: WalkedDirectory): { inner: boolean; bare: boolean } => {
  if (path === '') return { inner: false, bare: false };
  const names = new Set(entries.map(({ name }) => name));
  const isBare = names.has('commondir') || (names.has('objects') && names.has('refs'));
  // A disk that knows no case has it by each of its names.
  const inner = entries.some(({ name }) => name.toLowerCase() === '.git');
  return { inner, bare: names.has('HEAD') && isBare };
};

const blockingIn = ({ path, entries }: WalkedDirectory): string[] =>
  entries.flatMap(({ name, kind }) =>
    kind === 'special' && READ_BY_GIT.test(name) ? [path === '' ? name : `${path}/${name}`] : [],
  );

const READ_BY_GIT = /^\.(?:gitignore|gitattributes|gitmodules)$/i;

/** Gives the owner of a directory leave to read, write and enter it. A link is none. */
export const grantOwnerAccess = (dir: string | Buffer): void => {
  const found = lstatSync(dir, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true || (found.mode & OWNER) === OWNER) return;
  try {
    chmodSync(dir, (found.mode & 0o7777) | OWNER);
  } catch {
    // It is another user's: what follows says what it cannot do.
  }
};

const OWNER = 0o700;
