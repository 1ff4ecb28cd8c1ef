import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import { isAtOrBelowAny } from '../../store/base/paths.ts';

/** A mount of bubblewrap: its path and arguments. */
export interface Mount {
  path: string;
  arguments: string[];
}

type How = '--bind' | '--ro-bind';

/** Binds paths at their real location: bubblewrap would follow a link and mount over its target. Skips missing paths. */
export const bind = (how: How, paths: readonly string[]): Mount[] =>
  real(paths).map((path) => ({ path, arguments: [how, path, path] }));

/** Hides a path: an empty directory, or a file that cannot be opened. */
export const hide = (path: string): Mount =>
  isDirectory(path) ? empty(path) : { path, arguments: ['--ro-bind', devNull, path] };

export const empty = (path: string): Mount => ({ path, arguments: ['--tmpfs', path] });

/** The real paths of those that exist. With `codes`, system errors other than these are thrown. */
export const real = (paths: readonly string[], ...codes: string[]): string[] =>
  paths.flatMap((path) => orElse(() => realpathSync(path), [], ...codes));

/** The real paths of those to hide. Throws where the disk fails: what is there then would be left visible. */
export const realHidden = (paths: readonly string[]): string[] =>
  real(paths, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EPERM');

export const isDirectory = (path: string): boolean =>
  orElse(() => statSync(path).isDirectory(), false);

/** Whether a path is a link. False without permission. */
export const isLink = (path: string): boolean =>
  orElse(() => lstatSync(path).isSymbolicLink(), false);

/** Whether an existing path is below another, links resolved. */
export const isReallyBelow = (path: string, parent: string): boolean => {
  if (!existsSync(path) || !existsSync(parent)) return false;
  const below = relative(realpathSync(parent), realpathSync(path));
  return below !== '' && !below.startsWith('..') && !isAbsolute(below);
};

/** The links in a path below hidden directories, where they have to be created again. */
export const linksTo = (path: string, below: readonly string[]): Mount[] => {
  const links: Mount[] = [];
  let left = resolve(path);
  for (let steps = 0; steps < MOST_LINKS; steps += 1) {
    const link = firstLink(left);
    if (link === undefined) return links;
    const target = readlinkSync(link);
    if (isAtOrBelowAny(link, below))
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
 * The paths of the machine's Unix sockets that the daemon can reach: read access to the directory is enough to connect.
 * Empty without /proc.
 */
export const socketPaths = (): string[] => {
  const [, ...table] = orElse(() => readFileSync('/proc/net/unix', 'utf8'), '').split('\n');
  const found = table.flatMap((line) => PATH.exec(line)?.[1] ?? []);
  return [...new Set(found)].filter(isSocket);
};

const PATH = / (\/.*)$/;

// A run cannot reach a socket that is gone or that the daemon cannot reach.
const isSocket = (path: string): boolean => orElse(() => statSync(path).isSocket(), false);
