import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { statsAt } from './plain-path.ts';

export interface GitDir {
  /** The top of the working files. */
  top: string;
  /** Where HEAD and the index are; a linked worktree has its own, and all else in common. */
  head_dir: string;
  gitdir: string;
}

/** The repository that a directory lies in, as git finds it, or undefined. Runs nothing. */
export const findGitDir = (directory: string): GitDir | undefined => {
  for (let top = directory; ; top = dirname(top)) {
    const head_dir = gitDirAt(join(top, '.git'));
    if (head_dir !== undefined) return { top, head_dir, gitdir: commonDirOf(head_dir) };
    if (dirname(top) === top) return undefined;
  }
};

// In a linked worktree and in a submodule `.git` is a file that says where.
const gitDirAt = (path: string): string | undefined => {
  const stats = statsAt(path);
  if (stats === undefined) return undefined;
  if (!stats.isFile()) return existsSync(join(path, 'HEAD')) ? path : undefined;
  const target = /^gitdir: (.*)$/m.exec(readFileSync(path, 'utf8'))?.[1];
  return target === undefined ? undefined : resolve(dirname(path), target);
};

const commonDirOf = (gitdir: string): string => {
  const [common] = gitFileLines(join(gitdir, 'commondir'));
  return common === undefined ? gitdir : resolve(gitdir, common);
};

/** The lines of a small file of git's own; none when it is not there. */
export const gitFileLines = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
