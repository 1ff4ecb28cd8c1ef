import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitWorktree } from '../../tools/git/run/git.ts';
import { entriesOf, plainText } from '../../tools/git/run/plain-file.ts';

/** What the `.git` file of a worktree says that leads to a directory. */
export const pointerTo = (dir: string): string => `gitdir: ${dir}\n`;

/**
 * Has the worktree's `.git` file lead to another directory, by one rename. False where it is not what it is meant to be:
 * somebody else changed it, and that is told where the worktree is looked at.
 */
export const point = ({ path }: GitWorktree, from: string, to: string): boolean => {
  const link = join(path, '.git');
  if (targetOf(link) !== from) return false;
  const temporary = join(path, `.git-${randomUUID()}`);
  // Synced: a rename that outlives a power cut must not name a file that has not.
  writeFileSync(temporary, pointerTo(to), { flag: 'wx', flush: true });
  renameSync(temporary, link);
  return true;
};

/** Takes away what a daemon left that died before the rename. */
export const dropHalfPointers = ({ path }: GitWorktree): void => {
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
