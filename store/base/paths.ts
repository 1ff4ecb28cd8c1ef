import { readlinkSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { orElse } from './attempt.ts';

/** Whether a path is a directory or lies below it; both absolute and without links. */
export const isAtOrBelow = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);

/** Whether one of two directories lies in the other, or they are the same. */
export const overlap = (one: string, other: string): boolean =>
  isAtOrBelow(one, other) || isAtOrBelow(other, one);

/**
 * Whether a path, relative ones taken from `root`, lies in `root` once links are resolved, those that lead to nothing,
 * too: who writes through one makes its target. It need not exist yet.
 */
export const pathContains = (root: string, path: string): boolean => {
  const top = realpathSync(root);
  const whole = isAbsolute(path) ? path : `${top}${sep}${path}`;
  // Programs take `link/..` either for where the link is or for what is above its target.
  return [whole, resolve(whole)].every((each) => {
    const real = followLinks(each);
    return real === top || real?.startsWith(top + sep) === true;
  });
};

const MOST_LINKS = 40;

/**
 * Where a path leads once links are resolved, those that lead to nothing, too. A path of links in a circle stays as it is.
 */
export const realPlace = (path: string): string => followLinks(path) ?? path;

// Undefined where links lead in a circle.
const followLinks = (path: string, left = { links: MOST_LINKS }): string | undefined =>
  path.split(sep).reduce<string | undefined>((at, name) => {
    if (at === undefined) return undefined;
    if (name === '..') return dirname(at);
    // Undefined for what is no link, or nothing yet.
    const target = orElse(() => readlinkSync(join(at, name)), undefined);
    if (target === undefined) return join(at, name);
    left.links -= 1;
    return left.links < 0 ? undefined : followLinks(from(at, target), left);
  }, sep);

const from = (at: string, target: string): string =>
  isAbsolute(target) ? target : `${at}${sep}${target}`;
