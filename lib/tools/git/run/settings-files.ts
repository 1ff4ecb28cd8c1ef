import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Checkout } from './git.ts';

/**
 * What the files say that hold the repository's and the worktree's own settings, a character a byte. One that is not
 * there says nothing. Undefined where one cannot be taken at its word: a link, a pipe, or very long.
 */
export const settingsText = ({ git_dir, common_dir }: Checkout): string | undefined => {
  const texts = [join(common_dir, 'config'), join(git_dir, 'config.worktree')].map(textAt);
  return texts.includes(undefined) ? undefined : texts.join('\n');
};

const textAt = (path: string): string | undefined => {
  try {
    return readPlain(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? '' : undefined;
  }
};

const MAX_BYTES = 256 * 1024;

/** A regular file's bytes, a character each. Follows no link, and waits for nobody at the other end of a pipe. */
export const readPlain = (path: string): string | undefined => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    return found.isFile() && found.size <= MAX_BYTES ? readFileSync(file, 'latin1') : undefined;
  } finally {
    closeSync(file);
  }
};
