import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bind } from '../../sandbox/sandbox.ts';
import type { GitWorktree } from '../../tools/git/run/git.ts';
import { entriesOf, plainText } from '../../tools/git/run/plain-file.ts';

/** What the `.git` file of a worktree says that leads to a directory. */
export const gitFileText = (dir: string): string => `gitdir: ${dir}\n`;

/**
 * Has the worktree's `.git` file lead to another directory, by one rename. False where it is not what it is meant to be:
 * somebody else changed it, and that is told where the worktree is looked at.
 */
export const pointGitFile = ({ path }: GitWorktree, from: string, to: string): boolean => {
  const link = join(path, '.git');
  if (targetOf(link) !== from) return false;
  const temporary = join(path, `.git-${randomUUID()}`);
  // Synced: a rename that outlives a power cut must not name a file that has not.
  writeFileSync(temporary, gitFileText(to), { flag: 'wx', flush: true });
  renameSync(temporary, link);
  return true;
};

/** Takes away what a daemon left that died before the rename. */
export const removeStaleGitFiles = ({ path }: GitWorktree): void => {
  for (const { name, kind } of entriesOf(path))
    if (kind === 'file' && HALF.test(name) && isPointer(join(path, name))) rmSync(join(path, name));
};

const HALF = /^\.git-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// One that was cut off, too.
const isPointer = (path: string): boolean =>
  /^(?:gitdir: [^\n]*\n?)?$/.test(plainText(path, 65_536) ?? '\n');

/** The directory that a `.git` file names; undefined where it is none. */
const targetOf = (link: string): string | undefined => {
  const text = plainText(link, 65_536);
  const target = text === undefined ? undefined : /^gitdir: (.*?)\n*$/s.exec(text)?.[1];
  return target === undefined ? undefined : Buffer.from(target, 'latin1').toString('utf8');
};

export interface RepositoryPlaces {
  dir: string;
  pointer: string;
  operator: string;
}

interface TurnView {
  writable: string[];
  kept: string[];
  binds: Bind[];
}

/**
 * What a sandboxed turn sees of git: its own repository, to be written but for its settings, its hooks and where its
 * objects come from; the operator's, never to be written; and a `.git` in the worktree that leads to its own.
 */
export const turnView = (worktree: GitWorktree, places: RepositoryPlaces): TurnView => {
  const { path, git_dir, common_dir } = worktree;
  const { dir, pointer, operator } = places;
  const isClone = git_dir === common_dir;
  const at = isClone ? join(path, '.git') : dir;
  const modules = join(git_dir, 'modules');
  const fixed = FIXED.map(({ name, write }) => ({
    from: join(dir, name),
    to: join(at, name),
    write,
  }));
  const own = isClone
    ? [{ from: common_dir, to: operator, write: false }]
    : [{ from: pointer, to: join(path, '.git'), write: false }];
  const bound =
    isClone && existsSync(modules)
      ? [{ from: modules, to: join(at, 'modules'), write: false }]
      : [];
  return {
    writable: isClone ? [] : [modules],
    kept: [...(isClone ? [] : [common_dir]), ...alternatesIn(dir)],
    binds: [{ from: dir, to: at, write: true }, ...fixed, ...own, ...bound],
  };
};

// What lies over a name keeps it from being moved, so the directories above one that is fixed are, too.
const FIXED = [
  ...['config', 'hooks', 'objects/info/alternates'].map((name) => ({ name, write: false })),
  ...['objects', 'objects/info'].map((name) => ({ name, write: true })),
];

const alternatesIn = (dir: string): string[] =>
  (plainText(join(dir, 'objects', 'info', 'alternates'), 1_048_576) ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Buffer.from(line, 'latin1').toString('utf8'));
