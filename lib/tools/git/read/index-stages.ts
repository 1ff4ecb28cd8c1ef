import { constants, readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../../../store/base/sha256.ts';
import { ServiceError } from '../../../errors.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';

/** An index as it was read. */
export interface StagedIndex {
  /** Null where there is no file. */
  bytes: Buffer | null;
  said: Said;
}

interface Said {
  /** As `ls-files --stage -v -z` has it. */
  stages: Buffer;
  /** The tree of its files, where that was asked for. It may be gone by now, where no commit has it. */
  tree?: string;
}

/**
 * What an index says, the worktree's own or one in a file: git is asked once for the same bytes. Only of the oldest kind
 * of index, which git still writes: its flags, unlike those of later ones, depend on nothing but these bytes.
 */
export const stagedIndex = async (
  git: GitAt<GitWorktree>,
  path = ownPath(git.place),
): Promise<StagedIndex> => {
  const bytes = await bytesOf(path);
  const known = saidOf(git.place, bytes);
  if (known !== undefined) return { bytes, said: known };
  const options = { max_bytes: MOST_BYTES, env: { GIT_INDEX_FILE: path } };
  const said: Said = { stages: await git.read(['ls-files', '--stage', '-v', '-z'], options) };
  const isSame = await isStill(path, bytes);
  if (bytes !== null && isSame && isLasting(git.place, bytes)) remember(sha256(bytes), said);
  return { bytes, said };
};

// git may have read another one, that came after these bytes.
const isStill = async (path: string, bytes: Buffer | null): Promise<boolean> =>
  bytes !== null && (await bytesOf(path))?.equals(bytes) === true;

/** Notes the tree that was written of a copy of the worktree's own index, if that is still what it was before. */
export const noteTree = async (
  { place }: GitAt<GitWorktree>,
  { bytes, said }: StagedIndex,
  tree: string,
): Promise<void> => {
  if (await isStill(ownPath(place), bytes)) said.tree = tree;
};

const MOST_BYTES = 1024 * 1024 * 1024;

const ownPath = ({ git_dir }: GitWorktree): string => join(git_dir, 'index');

/** The same of the worktree's own index where nobody has to ask. */
export const knownStages = async (git: GitAt<GitWorktree>): Promise<Buffer | undefined> =>
  saidOf(git.place, await bytesOf(ownPath(git.place)))?.stages;

// Of what an agent may have put there instead, a pipe say, nobody waits for the other end.
const bytesOf = async (path: string): Promise<Buffer | null> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(unlessAbsent);
  if (file === null) return null;
  try {
    if ((await file.stat()).isFile()) return await file.readFile();
  } finally {
    await file.close();
  }
  throw new ServiceError('git_failed', `${path} is no file. Look at it by hand.`);
};

/** What a file says that is not there; any other that cannot be read is told. */
export const unlessAbsent = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT') return null;
  const message = `A file of the repository cannot be read: ${error.message}`;
  throw new ServiceError('git_failed', message, { cause: error });
};

// The newest last. Those of large repositories are not held: there a run of git is a small part of what is waited for.
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

// The second version. Of a split index the larger part is in a file beside it.
const isLasting = ({ git_dir }: GitWorktree, bytes: Buffer): boolean =>
  bytes.length <= MOST_HELD_BYTES &&
  bytes.subarray(0, HEADER.length).equals(HEADER) &&
  !readdirSync(git_dir).some((name) => name.startsWith('sharedindex.'));

const HEADER = Buffer.from('DIRC\0\0\0\x02', 'latin1');
