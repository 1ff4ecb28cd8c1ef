import { constants, readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { orElse } from '../../../../store/base/attempt.ts';
import { sha256 } from '../../../../store/base/sha256.ts';
import { ServiceError } from '../../../errors.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { MOST_LISTED } from '../run/index-copy.ts';

/** The content of an index. */
export interface StagedIndex {
  /** The file; null if it is missing. */
  bytes: Buffer | null;
  said: Said;
}

interface Said {
  /** The output of `ls-files --stage -v -z`. */
  stages: Buffer;
  /** The tree of its files, if it was written. An unreferenced tree may have been removed by gc. */
  tree?: string;
}

/**
 * Reads the stages of an index, the worktree's own or one in a file. Results are cached by the bytes of the index, only for
 * index version 2, whose flags depend on nothing else.
 */
export const stagedIndex = async (
  git: GitAt<GitWorktree>,
  path = ownPath(git.place),
): Promise<StagedIndex> => {
  const bytes = await bytesOf(path);
  const known = saidOf(git.place, bytes);
  if (known !== undefined) return { bytes, said: known };
  const options = { max_bytes: MOST_LISTED, env: { GIT_INDEX_FILE: path } };
  const said: Said = { stages: await git.read(['ls-files', '--stage', '-v', '-z'], options) };
  const isSame = await isStill(path, bytes);
  if (bytes !== null && isSame && isLasting(git.place, bytes)) remember(sha256(bytes), said);
  return { bytes, said };
};

/** Whether the index may have submodules, from its bytes: starts no git process. */
export const mayHaveGitlinks = async ({ git_dir }: GitWorktree): Promise<boolean> =>
  hasSharedIndex(git_dir) ||
  (await bytesOf(join(git_dir, 'index')))?.includes(GITLINK_MODE) === true;

// The mode 160000 as every version of the index has it.
const GITLINK_MODE = Buffer.from([0, 0, 0xe0, 0]);

// git may have read a newer index than these bytes.
const isStill = async (path: string, bytes: Buffer | null): Promise<boolean> =>
  bytes !== null && (await bytesOf(path))?.equals(bytes) === true;

/** Caches the tree that was written from a copy of the worktree's index, if the index has not changed. */
export const noteTree = async (
  { place }: GitAt<GitWorktree>,
  { bytes, said }: StagedIndex,
  tree: string,
): Promise<void> => {
  if (await isStill(ownPath(place), bytes)) said.tree = tree;
};

const ownPath = ({ git_dir }: GitWorktree): string => join(git_dir, 'index');

// An agent may have replaced the index, for example with a pipe: open it without blocking.
const bytesOf = async (path: string): Promise<Buffer | null> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(unlessAbsent);
  if (file === null) return null;
  try {
    if ((await file.stat()).isFile()) return await file.readFile();
  } finally {
    await file.close();
  }
  throw new ServiceError('git_failed', `${path} is not a regular file. Check it by hand.`);
};

/** Returns null for a missing file; throws `git_failed` for any other error. */
export const unlessAbsent = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT') return null;
  const message = `A file of the repository cannot be read: ${error.message}.`;
  throw new ServiceError('git_failed', message, { cause: error });
};

// A cache with the newest entry last. Large indexes are not cached: there, git is a small part of the total time.
const remembered = new Map<string, Said>();
const MOST_REMEMBERED = 8;
const MOST_HELD_BYTES = 1024 * 1024;

const saidOf = (place: GitWorktree, bytes: Buffer | null): Said | undefined => {
  if (bytes === null || !isLasting(place, bytes)) return undefined;
  const key = sha256(bytes);
  const known = remembered.get(key);
  if (known !== undefined) remember(key, known);
  return known;
};

const remember = (key: string, said: Said): void => {
  remembered.delete(key);
  remembered.set(key, said);
  const [oldest] = remembered.keys();
  if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
};

// Index version 2, and not a split index, whose larger part is in another file.
const isLasting = ({ git_dir }: GitWorktree, bytes: Buffer): boolean =>
  bytes.length <= MOST_HELD_BYTES &&
  bytes.subarray(0, HEADER.length).equals(HEADER) &&
  !hasSharedIndex(git_dir);

const hasSharedIndex = (git_dir: string): boolean =>
  orElse(() => readdirSync(git_dir), [], 'ENOENT').some((name) => name.startsWith('sharedindex.'));

const HEADER = Buffer.from('DIRC\0\0\0\x02', 'latin1');
