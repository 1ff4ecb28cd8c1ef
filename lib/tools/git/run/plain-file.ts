import { constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { orElse, orElseUnlessDiskFault } from '../../../../store/base/attempt.ts';
import { whileOpen } from '../../../../store/base/open-file.ts';

/**
 * Reads a regular file as latin1. Undefined if it is missing, not a regular file, or larger than `most` bytes. Follows no
 * link and does not block on a pipe.
 */
export const plainText = (path: string | Buffer, most: number): string | undefined =>
  orElseUnlessDiskFault(() => readPlain(path, most), undefined);

/** The same, but throws if the file cannot be opened. */
export const readPlain = (path: string | Buffer, most: number): string | undefined =>
  whileOpen(openSync(path, PLAINLY), (file) => {
    const found = fstatSync(file);
    return found.isFile() && found.size <= most ? readFileSync(file, 'latin1') : undefined;
  });

/** Follows no link, and does not block on a pipe. */
export const PLAINLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The directory that the text of a `.git` file names; undefined if it is no pointer. */
export const pointedTo = (text: string): string | undefined =>
  /^gitdir: (.*?)\n*$/s.exec(text)?.[1];

/** Whether there is anything at a path, also a link that leads nowhere. */
export const isThere = (path: string | Buffer): boolean =>
  orElse(() => lstatSync(path, { throwIfNoEntry: false }) !== undefined, false, 'ENOTDIR');

/** The paths of regular files below a directory, up to about `most`. Follows no links. */
export const plainFilesBelow = (root: string, most: number): string[] => {
  const found: string[] = [];
  const open = [''];
  for (let dir = open.pop(); dir !== undefined && found.length < most; dir = open.pop()) {
    const below = dir === '' ? '' : `${dir}/`;
    const entries = entriesOf(join(root, dir));
    const named = (wanted: PlainEntry['kind']): string[] =>
      entries.filter(({ kind }) => kind === wanted).map(({ name }) => `${below}${name}`);
    open.push(...named('directory'));
    found.push(...named('file'));
  }
  return found;
};

interface PlainEntry {
  name: string;
  kind: 'file' | 'directory' | 'else';
}

/** The entries of a directory; empty if it is missing or a link. */
export const entriesOf = (path: string): PlainEntry[] =>
  orElse(() => {
    const entries = lstatSync(path).isDirectory() ? readdirSync(path, { withFileTypes: true }) : [];
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  }, []);

const kindOf = (entry: { isFile(): boolean; isDirectory(): boolean }): PlainEntry['kind'] => {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'directory' : 'else';
};
