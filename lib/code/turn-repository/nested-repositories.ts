import { chmodSync, lstatSync } from 'node:fs';
import { isDone } from '../../../store/base/attempt.ts';
import { type IgnoreRules, withIgnoreRules } from '../../tools/git/read/ignore-rules.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { type WalkBounds, type WalkedDirectory, walk } from './walk.ts';

/** Repositories inside a worktree, by directory; paths are decoded as latin1 to keep every byte. */
interface NestedRepositories {
  paths: string[];
  /** Bare repositories: git directories without a `.git`. */
  bare: string[];
  /** Pipes and devices named like a file that git reads everywhere: opening one blocks git. */
  blocking: string[];
  /** Directories that were not read. */
  unseen: string[];
}

interface SearchOptions {
  /** Directories that these rules ignore are skipped; without rules none is. */
  rules: IgnoreRules | undefined;
  /** Whether to restore the owner's permissions on a directory that lacks them. */
  open_up: boolean;
  most?: WalkBounds | undefined;
}

/** Finds repositories inside a worktree, submodules included. Ignore rules that the turn wrote are not used. */
export const findNestedRepositories = async (
  git: GitAt<GitWorktree>,
  { rules, open_up, most }: SearchOptions,
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

// The same criteria as git's repository discovery.
const kindsOf = ({ path, entries }: WalkedDirectory): { inner: boolean; bare: boolean } => {
  if (path === '') return { inner: false, bare: false };
  const names = new Set(entries.map(({ name }) => name));
  const isBare = names.has('commondir') || (names.has('objects') && names.has('refs'));
  // A case-insensitive disk finds `.GIT` too.
  const inner = entries.some(({ name }) => name.toLowerCase() === '.git');
  return { inner, bare: names.has('HEAD') && isBare };
};

const blockingIn = ({ path, entries }: WalkedDirectory): string[] =>
  entries.flatMap(({ name, kind }) =>
    kind === 'special' && READ_BY_GIT.test(name) ? [path === '' ? name : `${path}/${name}`] : [],
  );

const READ_BY_GIT = /^\.(?:gitignore|gitattributes|gitmodules)$/i;

/** Grants the owner of a directory read, write and execute permission. Ignores links and missing paths. */
export const grantOwnerAccess = (dir: string | Buffer): void => {
  const found = lstatSync(dir, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true || (found.mode & OWNER) === OWNER) return;
  // If it belongs to another user, the following operation reports its own error.
  isDone(() => chmodSync(dir, (found.mode & 0o7777) | OWNER));
};

const OWNER = 0o700;
