import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Bind } from '../../sandbox/sandbox.ts';
import type { GitWorktree } from '../../tools/git/run/git.ts';
import { plainText } from '../../tools/git/run/plain-file.ts';

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
