import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { orElse, orElseUnlessFault } from '../../../../store/base/attempt.ts';

/**
 * The bytes of a regular file, a character each; undefined for what is not there, is no such file, or is larger than
 * `most`. Follows no link, and waits for nobody at the other end of a pipe.
 */
export const plainText = (path: string | Buffer, most: number): string | undefined =>
  orElseUnlessFault(() => readPlain(path, most), undefined);

/** The same of a file that has to be there: it throws where it cannot be opened. */
export const readPlain = (path: string | Buffer, most: number): string | undefined => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    return found.isFile() && found.size <= most ? readFileSync(file, 'latin1') : undefined;
  } finally {
    closeSync(file);
  }
};

/** The names of the regular files below a directory, links not followed, read as latin1; `most` of them at most. */
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

/** What is in a directory; nothing where there is none, or a link in its place. */
export const entriesOf = (path: string): PlainEntry[] =>
  orElse(() => {
    const entries = lstatSync(path).isDirectory() ? readdirSync(path, { withFileTypes: true }) : [];
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  }, []);

const kindOf = (entry: { isFile(): boolean; isDirectory(): boolean }): PlainEntry['kind'] => {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'directory' : 'else';
};
