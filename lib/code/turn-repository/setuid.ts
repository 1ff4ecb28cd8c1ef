import { chmodSync, lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';
import { onDisk } from '../../tools/git/run/index-copy.ts';
import { pathText } from '../../tools/git/run/path-text.ts';
import { grantOwnerAccess } from './nested-repositories.ts';
import { type WalkedDirectory, walk } from './walk.ts';

const BITS = 0o6000;

export interface ClearedSetIds {
  /** Files that were set-uid or set-gid. */
  dropped: string[];
  /** Directories that were not read; paths are latin1. */
  unseen: string[];
}

/**
 * Clears the set-uid and set-gid bits of all files below a directory, so that other users of the machine cannot run
 * programs as the daemon's user. Skips directories that other users cannot enter.
 */
export const clearSetIds = async (root: string): Promise<ClearedSetIds> =>
  canBeEntered(root) ? clearSetIdsBelow(root) : { dropped: [], unseen: [] };

/** Like `clearSetIds`, whether or not other users can enter the directory. */
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

// False also if the file is gone, or belongs to another user.
const drop = (path: Buffer): boolean =>
  orElse(() => {
    const { mode } = lstatSync(path);
    if ((mode & BITS) === 0) return false;
    chmodSync(path, mode & 0o1777);
    return true;
  }, false);

const canBeEntered = (path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & 0o011) === 0) return false;
  return dirname(path) === path || canBeEntered(dirname(path));
};
