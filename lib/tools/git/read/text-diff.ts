import { dirname } from 'node:path';
import type { GitAt } from '../run/git.ts';

/** The unified diff between two files of a directory outside any repository. Empty if they are equal. */
export const textDiff = async (
  git: GitAt<string>,
  [before, after]: readonly [string, string],
): Promise<string> => {
  const stdout = await git.read([...DIFF, '--', before, after], {
    ok: [0, 1],
    // Do not search for a repository above, such as a workspace under git.
    env: { GIT_CEILING_DIRECTORIES: dirname(git.place) },
  });
  // Drops the two header lines with object ids.
  return stdout.toString('utf8').split('\n').slice(2).join('\n');
};

const DIFF = [
  ...['diff', '--no-index', '--text', '--no-color', '--no-ext-diff', '--no-textconv'],
  ...['--src-prefix=', '--dst-prefix='],
];
