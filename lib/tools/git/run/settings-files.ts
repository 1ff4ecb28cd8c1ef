import { join } from 'node:path';
import { orElse } from '../../../../store/base/attempt.ts';
import type { Checkout } from './git.ts';
import { readPlain } from './plain-file.ts';

/**
 * What the files say that hold the repository's and the worktree's own settings, a character a byte. One that is not
 * there says nothing. Undefined where one cannot be taken at its word: a link, a pipe, or very long.
 */
export const settingsText = ({ git_dir, common_dir }: Checkout): string | undefined => {
  const texts = [join(common_dir, 'config'), join(git_dir, 'config.worktree')].map((path) =>
    orElse(() => orElse(() => readPlain(path, SETTINGS_BYTES), '', 'ENOENT'), undefined),
  );
  return texts.includes(undefined) ? undefined : texts.join('\n');
};

/** Longer settings are not read. */
export const SETTINGS_BYTES = 256 * 1024;
