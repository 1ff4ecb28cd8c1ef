import { randomUUID } from 'node:crypto';
import { chmodSync, type Dirent, readdirSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { orElse } from '../base/attempt.ts';

const ALL = { recursive: true, force: true } as const;
// No system has shorter limits of a path; a name has at most 255 bytes.
const LONGEST = 700;
const SLASH = Buffer.from('/');

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
  const root = Buffer.from(top);
  const left = [root];
  for (let dir = left.pop(); dir !== undefined; dir = left.pop())
    for (const { name } of directoriesIn(dir)) {
      const path = Buffer.concat([dir, SLASH, name]);
      // A directory is moved only by a user who can write it.
      open(path);
      const short = Buffer.concat([root, SLASH, Buffer.from(randomUUID())]);
      if (path.length > root.length + LONGEST) renameSync(path, short);
      left.push(path.length > root.length + LONGEST ? short : path);
    }
};

const directoriesIn = (dir: Buffer): Dirent<Buffer>[] => {
  open(dir);
  const entries = orElse(() => readdirSync(dir, { withFileTypes: true, encoding: 'buffer' }), []);
  return entries.filter((entry) => entry.isDirectory());
};

const open = (dir: Buffer): void => orElse(() => chmodSync(dir, 0o700), undefined);
