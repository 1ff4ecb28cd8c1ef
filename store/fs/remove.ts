import { randomUUID } from 'node:crypto';
import { chmodSync, type Dirent, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { orElse } from '../base/attempt.ts';
import { isDirectoryItself } from './plain-path.ts';

const ALL = { recursive: true, force: true } as const;
// Far below the limit of each system for a path, which has at least 1,024 bytes.
const LONGEST = 700;
const SLASH = Buffer.from('/');

/**
 * Removes a file, if it is there. For one file, `rmSync` of Node 24 says of most errors neither code nor number, so that a
 * failing disk would look like a fault of the daemon.
 */
export const unlinkIfThere = (path: string | Buffer): void =>
  orElse(() => unlinkSync(path), undefined, 'ENOENT');

/**
 * Removes a directory whatever an agent has made in it: directories that their owner cannot read or write, and paths that are
 * too long for the system. No other process may use it. Throws if something stays, as a file that is immutable.
 */
export const removeTree = async (path: string): Promise<void> => {
  try {
    await rm(path, ALL);
  } catch {
    makeRemovable(path);
    await rm(path, ALL);
  }
};

/** The same, synchronous. */
export const removeTreeSync = (path: string): void => {
  try {
    rmSync(path, ALL);
  } catch {
    makeRemovable(path);
    rmSync(path, ALL);
  }
};

// Moves directories with long paths to the top. Names are bytes, because they need not be UTF-8.
const makeRemovable = (top: string): void => {
  // A file may have another name in use, and a link would change the mode of what it leads to.
  if (!isDirectoryItself(top)) return;
  const root = Buffer.from(top);
  grantAccess(root);
  const left: Buffer[] = [root];
  for (let dir = left.pop(); dir !== undefined; dir = left.pop())
    for (const { name } of directoriesIn(dir)) {
      const path = below(dir, name);
      // Before it is moved: only a user who can write it may do that.
      grantAccess(path);
      left.push(path.length > root.length + LONGEST ? moved(path, root) : path);
    }
};

const moved = (path: Buffer, root: Buffer): Buffer => {
  const short = below(root, Buffer.from(randomUUID()));
  renameSync(path, short);
  return short;
};

const below = (dir: Buffer, name: Buffer): Buffer => Buffer.concat([dir, SLASH, name]);

const directoriesIn = (dir: Buffer): Dirent<Buffer>[] =>
  orElse(() => readdirSync(dir, { withFileTypes: true, encoding: 'buffer' }), []).filter((entry) =>
    entry.isDirectory(),
  );

const grantAccess = (dir: Buffer): void => orElse(() => chmodSync(dir, 0o700), undefined);
