import { chmodSync, lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { onDisk } from '../../tools/git/run/index-file.ts';
import { pathText } from '../../tools/git/run/path-text.ts';
import { openUp } from './inner.ts';

const BITS = 0o6000;

/**
 * Has no file below a directory run as its owner or group for whoever starts it, and answers which were to: another
 * user of the machine would be whom the daemon runs as. Nothing is looked at where others cannot enter.
 */
export const dropSetIds = async (root: string): Promise<string[]> =>
  canBeEntered(root) ? dropBelow(root) : [];

/** The same, whoever can enter now. */
export const dropBelow = async (root: string): Promise<string[]> => {
  const found: string[] = [];
  const open = [''];
  for (let dir = open.pop(); dir !== undefined; dir = open.pop()) {
    const { directories, files } = await entriesIn(root, dir);
    open.push(...directories);
    found.push(...files.filter((name) => drop(onDisk({ path: root }, name))));
  }
  return found.toSorted().map(pathText);
};

// Names are read as latin1, byte for byte.
const entriesIn = async (
  root: string,
  dir: string,
): Promise<{ directories: string[]; files: string[] }> => {
  const path = onDisk({ path: root }, dir);
  openUp(path);
  const entries = await readdir(path, { withFileTypes: true, encoding: 'latin1' }).catch(() => []);
  const named = (some: typeof entries): string[] =>
    some.map(({ name }) => (dir === '' ? name : `${dir}/${name}`));
  return {
    directories: named(entries.filter((entry) => entry.isDirectory())),
    files: named(entries.filter((entry) => entry.isFile())),
  };
};

const drop = (path: Buffer): boolean => {
  try {
    const { mode } = lstatSync(path);
    if ((mode & BITS) === 0) return false;
    chmodSync(path, mode & 0o1777);
    return true;
  } catch {
    // It is gone, or another user's.
    return false;
  }
};

const canBeEntered = (path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & 0o011) === 0) return false;
  return dirname(path) === path || canBeEntered(dirname(path));
};
