import type { GitResult } from '../run/git.ts';

/**
 * Those of `paths` that `git update-index` did not take: names that git refuses, such as `git~1` and `.GIT/x`, which stand for
 * `.git` on other systems. It says so, and ends with 0. Paths are latin1.
 */
export const refusedOf = ({ stderr }: GitResult, paths: readonly string[]): string[] => {
  if (!stderr.includes('Ignoring path ')) return [];
  return paths.filter((path) => stderr.includes(`Ignoring path ${asDecoded(path)}\n`));
};

const asDecoded = (path: string): string => Buffer.from(path, 'latin1').toString('utf8');
