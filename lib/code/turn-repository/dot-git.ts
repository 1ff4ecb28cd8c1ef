import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TurnPlaces } from '../../../store/worktrees/turn-records.ts';
import type { Bind } from '../../sandbox/view.ts';
import type { GitWorktree } from '../../tools/git/run/git.ts';
import { entriesOf, plainText, pointedTo } from '../../tools/git/run/plain-file.ts';

/** The content of a `.git` file that points to a directory. */
export const gitFileText = (dir: string): string => `gitdir: ${dir}\n`;

/**
 * Points the worktree's `.git` file from one directory to another, with one rename. Returns false and changes nothing if
 * it does not point to `from`; the status of the worktree reports that.
 */
export const pointGitFile = ({ path }: GitWorktree, from: string, to: string): boolean => {
  const link = join(path, '.git');
  if (targetOf(link) !== from) return false;
  const temporary = join(path, `.git-${randomUUID()}`);
  // Synced first, so that after a power cut the renamed file is never empty.
  writeFileSync(temporary, gitFileText(to), { flag: 'wx', flush: true });
  renameSync(temporary, link);
  return true;
};

/** Removes temporary files of a daemon that died before the rename. */
export const removeStaleGitFiles = ({ path }: GitWorktree): void => {
  for (const { name, kind } of entriesOf(path))
    if (kind === 'file' && HALF.test(name) && isPointer(join(path, name)))
      unlinkSync(join(path, name));
};

const HALF = /^\.git-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// Also matches a partially written file.
const isPointer = (path: string): boolean =>
  /^(?:gitdir: [^\n]*\n?)?$/.test(plainText(path, 65_536) ?? '\n');

/** The directory that a `.git` file names; undefined if the file is not a pointer. */
const targetOf = (link: string): string | undefined => {
  const target = pointedTo(plainText(link, 65_536) ?? '');
  return target === undefined ? undefined : Buffer.from(target, 'latin1').toString('utf8');
};

interface TurnMounts {
  writable: string[];
  kept: string[];
  binds: Bind[];
}

/**
 * The mounts of git for a sandboxed turn: its own repository, writable except for settings, hooks and alternates; the
 * operator's repository, read-only; and a `.git` in the worktree that points to the turn's own.
 */
export const turnView = (worktree: GitWorktree, places: TurnPlaces): TurnMounts => {
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
    kept: [...(isClone ? [] : [common_dir]), ...alternatesIn(join(dir, 'objects'))],
    binds: [{ from: dir, to: at, write: true }, ...fixed, ...own, ...bound],
  };
};

// A mount point cannot be renamed, so the parent directories of read-only files are mounted too.
const FIXED = [
  ...['config', 'hooks', 'objects/info/alternates'].map((name) => ({ name, write: false })),
  ...['objects', 'objects/info'].map((name) => ({ name, write: true })),
];

/** The alternates that an object directory names, as they are written. */
export const alternatesIn = (objects: string): string[] =>
  (plainText(join(objects, 'info', 'alternates'), 1_048_576) ?? '')
    .split('\n')
    .filter((line) => line !== '' && !/^[#"]/.test(line))
    .map((line) => Buffer.from(line, 'latin1').toString('utf8'));
