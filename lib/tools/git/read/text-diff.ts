import { dirname } from 'node:path';
import type { GitAt } from '../run/git.ts';

/** The unified diff between two files of the directory, which is in no repository. Empty where they are the same. */
export const textDiff = async (
  git: GitAt<string>,
  [before, after]: readonly [string, string],
): Promise<string> => {
  const stdout = await git.read([...DIFF, '--', before, after], {
    ok: [0, 1],
    // What stands around it, such as a workspace under git, has no part in it.
    env: { GIT_CEILING_DIRECTORIES: dirname(git.place) },
  });
  // The first two lines are of git's own objects.
  return stdout.toString('utf8').split('\n').slice(2).join('\n');
};

const DIFF = [
  ...['diff', '--no-index', '--text', '--no-color', '--no-ext-diff', '--no-textconv'],
  ...['--src-prefix=', '--dst-prefix='],
];
