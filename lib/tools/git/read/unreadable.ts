import { chmodSync, lstatSync } from 'node:fs';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { onDisk } from '../run/index-file.ts';
import { pathText } from '../run/path-text.ts';

const READ = 0o400;

/** Gives their owner leave to read the files that git has to look into, where that was taken away, and answers which. */
export const openUnreadable = async (git: GitAt<GitWorktree>): Promise<string[]> => {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const paths = new Set(await git.names(args, { max_bytes: MOST_BYTES }));
  return [...paths]
    .filter((path) => isOpened(onDisk(git.place, path)))
    .map(pathText)
    .toSorted();
};

const MOST_BYTES = 1024 * 1024 * 1024;

const isOpened = (path: Buffer): boolean => {
  try {
    const found = lstatSync(path);
    if (!found.isFile() || (found.mode & READ) !== 0) return false;
    chmodSync(path, (found.mode & 0o7777) | READ);
    return true;
  } catch {
    // It is gone, or another user's.
    return false;
  }
};
