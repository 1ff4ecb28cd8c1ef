import { chmodSync, lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { onDisk } from '../../tools/git/run/index-file.ts';
import { pathText } from '../../tools/git/run/path-text.ts';
import { grantOwnerAccess } from './nested-repositories.ts';
import { type WalkedDirectory, walk } from './walk.ts';

const BITS = 0o6000;

export interface ClearedSetIds {
  /** Files that ran as their owner or group for whoever started them. */
  dropped: string[];
  /** Directories that were not looked into, read as latin1. */
  unseen: string[];
}

/**
 * Has no file below a directory run as its owner or group for whoever starts it: another user of the machine would be
 * whom the daemon runs as. Nothing is looked at where others cannot enter.
 */
export const clearSetIds = async (root: string): Promise<ClearedSetIds> =>
  canBeEntered(root) ? clearSetIdsBelow(root) : { dropped: [], unseen: [] };

/** The same, whoever can enter now. */
export const clearSetIdsBelow = async (root: string): Promise<ClearedSetIds> => {
  const dropped: string[] = [];
  const visit = ({ path, entries }: WalkedDirectory): string[] => {
    const named = (wanted: string): string[] =>
      entries.flatMap(({ name, kind }) => (kind === wanted ? [name] : []));
    const files = named('file').map((name) => (path === '' ? name : `${path}/${name}`));
    dropped.push(...files.filter((name) => drop(onDisk({ path: root }, name))));
    return named('directory');
  };
  const unseen = await walk(root, { visit, before: grantOwnerAccess });
  return { dropped: dropped.toSorted().map(pathText), unseen };
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
