import { readlinkSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { orElse } from './attempt.ts';

/** Whether `path` is `directory` or lies below it. Both must be absolute, with links resolved. */
export const isAtOrBelow = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);

/** Whether `path` is one of these directories or lies below one. As `isAtOrBelow`. */
export const isAtOrBelowAny = (path: string, directories: readonly string[]): boolean =>
  directories.some((directory) => isAtOrBelow(path, directory));

/** The parent directories of a relative path, the topmost first. */
export const parentsOf = (path: string): string[] => {
  const names = path.split('/').slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join('/'));
};

/** Whether two directories are the same, or one lies in the other. */
export const overlap = (one: string, other: string): boolean =>
  isAtOrBelow(one, other) || isAtOrBelow(other, one);

/**
 * Whether a path (relative to `root` unless absolute) lies in `root` with links resolved. It need not exist. Dangling
 * links count: writing through one creates its target.
 */
export const pathContains = (root: string, path: string): boolean => {
  const top = realpathSync(root);
  const whole = isAbsolute(path) ? path : `${top}${sep}${path}`;
  // Some programs resolve `link/..` by name, others through the link's target.
  return [whole, resolve(whole)].every((each) => {
    const real = followLinks(each);
    return real === top || real?.startsWith(top + sep) === true;
  });
};

const MOST_LINKS = 40;

/** Resolves all links of a path, dangling ones included. Returns the path unchanged if its links form a loop. */
export const resolveLinks = (path: string): string => followLinks(path) ?? path;

// Undefined if the links form a loop.
const followLinks = (path: string, left = { links: MOST_LINKS }): string | undefined =>
  path.split(sep).reduce<string | undefined>((at, name) => {
    if (at === undefined) return undefined;
    if (name === '..') return dirname(at);
    // Undefined unless this is a link.
    const target = orElse(() => readlinkSync(join(at, name)), undefined);
    if (target === undefined) return join(at, name);
    left.links -= 1;
    return left.links < 0 ? undefined : followLinks(from(at, target), left);
  }, sep);

const from = (at: string, target: string): string =>
  isAbsolute(target) ? target : `${at}${sep}${target}`;
