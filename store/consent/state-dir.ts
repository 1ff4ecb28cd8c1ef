import { randomBytes, randomUUID } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  opendirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf, messageOf } from '../base/attempt.ts';
import { pathContains } from '../base/paths.ts';
import { ifReadable } from '../front-matter/problem.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { statsAt } from '../fs/plain-path.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import { makeSyncedDirectory, syncDirectoryNow, writePrivateNow } from '../fs/synced.ts';

/** The state directory cannot be used. The message is for the operator and says what to do. */
export class StateDirError extends Error {
  override readonly name = 'StateDirError';
}

const OTHERS = 0o077;
const ANOTHER = 'or name another directory with --state-dir';

/**
 * Creates the state directory if missing, and checks that decisions can be stored in it. Throws a StateDirError if it
 * belongs to another user, is open to others, is not writable, or is inside the workspace.
 */
export const needStateDir = (state: string, root: string): void =>
  explained(state, root, () => {
    makeSyncedDirectory(state, 0o700);
    checkExisting(state, root);
  });

/** The message of the error that `needStateDir` would throw; undefined for none. Creates no directory. */
export const stateDirProblem = (state: string, root: string): string | undefined => {
  try {
    explained(state, root, () => {
      if (existsSync(state)) return checkExisting(state, root);
      const parent = nearest(state);
      opendirSync(parent).closeSync();
      accessSync(parent, constants.W_OK | constants.X_OK);
    });
    return undefined;
  } catch (error) {
    return (error as StateDirError).message;
  }
};

/** Why the state directory that a running daemon began with is lost; undefined if its key is there. */
export const lostState = (state: string, key: Buffer): string | undefined =>
  keyIn(state)?.equals(key) === true
    ? undefined
    : `The state directory ${state} was removed or replaced while the daemon runs, so no decision is kept. Put it back: a daemon that starts without it asks for every decision again`;

const keyIn = (state: string): Buffer | undefined =>
  ifReadable(() => readStateKey(state), undefined);

const nearest = (path: string): string =>
  existsSync(dirname(path)) ? dirname(path) : nearest(dirname(path));

const explained = (state: string, root: string, check: () => void): void => {
  try {
    // Programs that write the workspace, such as git, must not reach the state directory. One that is away contains nothing.
    if (existsSync(root) && pathContains(root, state))
      throw new StateDirError(overlap(state, root));
    check();
  } catch (error) {
    throw error instanceof StateDirError ? error : new StateDirError(whyUnusable(state, error));
  }
};

const checkExisting = (state: string, root: string): void => {
  if (pathContains(state, root)) throw new StateDirError(overlap(state, root));
  checkOwner(state);
  checkWritable(state);
};

const overlap = (state: string, root: string): string =>
  `The state directory ${state} and the workspace ${root} must not contain each other. Name another state directory with --state-dir`;

const checkOwner = (state: string): void => {
  const found = statSync(state);
  const { uid, mode } = found;
  if (!found.isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'EEXIST' });
  if (uid !== (process.getuid?.() ?? uid))
    throw new StateDirError(
      `The state directory ${state} belongs to the user ${uid}. Start the daemon as that user, ${ANOTHER}`,
    );
  if ((mode & OTHERS) !== 0)
    throw new StateDirError(
      `Other users can enter the state directory ${state}. Run chmod 700 ${state}, ${ANOTHER}`,
    );
};

// A full or read-only disk can still be read.
const checkWritable = (state: string): void => {
  const path = join(state, `.${randomUUID()}`);
  try {
    writeFileSync(path, Buffer.alloc(4096), { mode: 0o600 });
  } finally {
    unlinkIfThere(path);
  }
};

const whyUnusable = (state: string, error: unknown): string => {
  const [, why = messageOf(error)] = REASONS.find(([each]) => each === codeOf(error)) ?? [];
  return `The state directory ${state} cannot be used: ${why}. Fix that, ${ANOTHER}`;
};

const REASONS = [
  ['EACCES', 'this user has no permission to write there (EACCES)'],
  ['EPERM', 'this user has no permission to write there (EPERM)'],
  ['EROFS', 'its file system is read-only (EROFS)'],
  ['ENOSPC', 'its disk is full (ENOSPC)'],
  ['EDQUOT', 'the quota of its disk is used up (EDQUOT)'],
  ['ENOENT', 'it cannot be created (ENOENT)'],
  ['ENOTDIR', 'a part of that path is a file (ENOTDIR)'],
  ['EEXIST', 'a file has that name (EEXIST)'],
] as const;

const LENGTH = 32;

/** Reads the key that authenticates the files of the state directory; undefined if there is none. */
export const readStateKey = (state: string): Buffer | undefined => {
  const key = readRegularFile(state, keyFile(state));
  return key?.length === LENGTH ? key : undefined;
};

/** Reads that key, or creates it. Throws a StateDirError if it is damaged. */
export const needStateKey = (state: string): Buffer => {
  try {
    if (statsAt(keyFile(state)) === undefined) writePrivate(keyFile(state), randomBytes(LENGTH));
  } catch (error) {
    throw new StateDirError(whyUnusable(state, error));
  }
  const key = readStateKey(state);
  if (key !== undefined) return key;
  throw new StateDirError(
    `${keyFile(state)} is not a key of ${LENGTH} bytes. Remove it, then trust and approve again on this machine`,
  );
};

const keyFile = (state: string): string => join(state, 'key');

/** Writes a file that only this user can read, atomically; on disk when it returns. Throws errors of the disk. */
export const writePrivate = (path: string, bytes: string | Buffer): void => {
  const dir = dirname(path);
  makeSyncedDirectory(dir, 0o700);
  const temporary = join(dir, `.${randomUUID()}`);
  writePrivateNow(temporary, bytes);
  renameSync(temporary, path);
  syncDirectoryNow(dir);
};
