import type { GitResult } from '../run/git.ts';

/**
 * Those of `paths` that `git update-index` did not take: names that git refuses, such as `git~1` and `.GIT/x`, which stand for
 * `.git` on other systems. It says so, in the order of its input, and ends with 0. Paths are latin1.
 */
export const refusedOf = ({ stderr }: GitResult, paths: readonly string[]): string[] => {
  // One pass over both: there may be as many lines as an agent made files, and a name may contain line breaks.
  let at = nextLine(stderr, 0);
  return paths.filter((path) => {
    const line = `${REFUSED}${Buffer.from(path, 'latin1').toString('utf8')}\n`;
    const isRefused = stderr.startsWith(line, at);
    if (isRefused) at = nextLine(stderr, at + line.length);
    return isRefused;
  });
};

const REFUSED = 'Ignoring path ';

// Where git's next line about a refused path begins; the end if there is none.
const nextLine = (stderr: string, from: number): number => {
  if (stderr.startsWith(REFUSED, from)) return from;
  const found = stderr.indexOf(`\n${REFUSED}`, from);
  return found < 0 ? stderr.length : found + 1;
};
