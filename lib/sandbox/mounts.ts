import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isAtOrBelow } from '../../store/base/at-or-below.ts';
import { orElse } from '../../store/base/or-else.ts';

/** One mount of bubblewrap's: where, and its arguments. */
export interface Mount {
  path: string;
  arguments: string[];
}

type How = '--bind' | '--ro-bind';

/** Seen where they are, links resolved: bubblewrap would mount over the link's target elsewhere. What is not there is left out. */
export const bind = (how: How, paths: readonly string[]): Mount[] =>
  real(paths).map((path) => ({ path, arguments: [how, path, path] }));

/** Seen empty, or for a file not to be opened. */
export const hide = (path: string): Mount =>
  isDirectory(path) ? empty(path) : { path, arguments: ['--ro-bind', devNull, path] };

export const empty = (path: string): Mount => ({ path, arguments: ['--tmpfs', path] });

/** The real paths of those that are there. */
export const real = (paths: readonly string[]): string[] =>
  paths.filter((path) => existsSync(path)).map((path) => realpathSync(path));

export const isDirectory = (path: string): boolean =>
  existsSync(path) && statSync(path).isDirectory();

/** False, too, where nobody may look. */
export const isLink = (path: string): boolean =>
  orElse(() => lstatSync(path).isSymbolicLink(), false);

/** Whether a path that is there lies below another once links are resolved. */
export const isReallyBelow = (path: string, parent: string): boolean => {
  if (!existsSync(path) || !existsSync(parent)) return false;
  const way = relative(realpathSync(parent), realpathSync(path));
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
};

/** The links on the way to a path, which an empty directory in its place would not have. */
export const linksTo = (path: string, below: readonly string[]): Mount[] => {
  const links: Mount[] = [];
  let left = resolve(path);
  for (let steps = 0; steps < MOST_LINKS; steps += 1) {
    const link = firstLink(left);
    if (link === undefined) return links;
    const target = readlinkSync(link);
    if (below.some((place) => isAtOrBelow(link, place)))
      links.push({ path: link, arguments: ['--symlink', target, link] });
    left = join(resolve(dirname(link), target), relative(link, left));
  }
  return links;
};

const MOST_LINKS = 40;

const firstLink = (path: string): string | undefined => {
  let at = '';
  for (const name of path.split(sep).slice(1)) {
    at += sep + name;
    if (isLink(at)) return at;
  }
  return undefined;
};

/**
 * The sockets of the machine that have a path, each one that can be seen now: to connect to one, read access to its
 * directory is enough. None where there is no /proc to ask.
 */
export const socketPaths = (): string[] => {
  const [, ...table] = orElse(() => readFileSync('/proc/net/unix', 'utf8'), '').split('\n');
  const found = table.flatMap((line) => PATH.exec(line)?.[1] ?? []);
  return [...new Set(found)].filter(isSocket);
};

const PATH = / (\/.*)$/;

// Gone, or not to be reached by whoever asks, is reached by no run either.
const isSocket = (path: string): boolean => orElse(() => statSync(path).isSocket(), false);
