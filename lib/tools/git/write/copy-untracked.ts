import { constants } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { hasCode } from '../../../../store/base/attempt.ts';
import { parentsOf } from '../../../../store/base/paths.ts';
import { ignoredNames } from '../read/ignore-rules.ts';
import { kindOf, topmost } from '../read/working-files.ts';
import type { Checkout, GitAt, GitSource, GitWorktree } from '../run/git.ts';
import { onDisk } from '../run/index-copy.ts';
import { lossyPath } from '../run/path-text.ts';

export interface CopiedFiles {
  copied: string[];
  /** Files that were not copied and globs without a match, each with the reason. */
  skipped: { path: string; reason: string }[];
}

/**
 * Copies untracked files that match git globs from a checkout into a worktree of the same repository. Only files that git
 * ignores in the worktree too: others would count as changes. Follows no link and overwrites nothing.
 */
export const copyUntrackedFiles = async (
  git: GitSource,
  { from, to, globs }: { from: Checkout; to: GitWorktree; globs: readonly string[] },
): Promise<CopiedFiles> => {
  const { path } = from;
  const found = path === undefined ? [] : await findAll(git.at({ ...from, path }), globs);
  const brought: CopiedFiles = {
    copied: [],
    skipped: globs
      .filter((glob) => !found.some((each) => each.glob === glob))
      .map((glob) => ({ path: glob, reason: NO_MATCH })),
  };
  const way = { git, from: path ?? '', to };
  const skip = (name: string, reason: string) =>
    brought.skipped.push({ path: lossyPath(name), reason });
  for (const name of await withoutBlocked(way, found, skip)) {
    const reason = await bring(way, name);
    if (reason === undefined) brought.copied.push(lossyPath(name));
    else skip(name, reason);
  }
  return brought;
};

interface Way {
  git: GitSource;
  from: string;
  to: GitWorktree;
}

// `check-ignore` fails for a path behind a link, so those are left out first.
const withoutBlocked = async (
  { git, from, to }: Way,
  found: readonly Found[],
  skip: (name: string, reason: string) => void,
): Promise<string[]> => {
  const free: string[] = [];
  for (const name of new Set(found.flatMap(({ paths }) => paths))) {
    const isThere = await isOccupied(to.path, name);
    if (!(await isPlain(from, name))) skip(name, LINK);
    else if (isThere) skip(name, THERE);
    else free.push(name);
  }
  const ignored = await ignoredNames(git.at(to), free);
  for (const name of free) if (!ignored.has(name)) skip(name, NOT_IGNORED);
  return free.filter((name) => ignored.has(name));
};

interface Found {
  glob: string;
  paths: string[];
}

const findAll = async (git: GitAt<GitWorktree>, globs: readonly string[]): Promise<Found[]> => {
  const found = [];
  for (const glob of globs) found.push({ glob, paths: await untracked(git, glob) });
  return found.filter(({ paths }) => paths.length > 0);
};

const NO_MATCH = 'no untracked file of the main checkout matches';
const NOT_IGNORED = 'git does not ignore it in the worktree, where it would count as a change';
const LINK = 'it is not a regular file, or is behind a link';
const THERE = 'the worktree already has this path';

// Names are latin1. The explicit magic keeps git from reading other magic at the start of the glob.
const untracked = async (git: GitAt<GitWorktree>, glob: string): Promise<string[]> => {
  const args = ['ls-files', '--others', '-z', '--', `:(top,glob)${glob}`];
  const names = await git.names(args, { env: { GIT_LITERAL_PATHSPECS: '0' } });
  // A nested repository is listed as its directory.
  return names.filter((name) => !name.endsWith('/'));
};

const bring = async ({ from, to }: Way, path: string): Promise<string | undefined> => {
  try {
    for (const parent of parentsOf(path)) await makeDirectory(onDisk(to, parent));
    const how = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
    await copyFile(onDisk({ path: from }, path), onDisk(to, path), how);
    return undefined;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return THERE;
    throw error;
  }
};

const makeDirectory = async (path: Buffer): Promise<void> => {
  if ((await kindOf(path)) === 'directory') return;
  await mkdir(path);
};

const isPlain = async (from: string, path: string): Promise<boolean> => {
  const top = await topmost({ path: from }, path);
  return top?.place === path && top.kind === 'file';
};

// True also if a parent is a file or a link: nothing is written through it.
const isOccupied = async (to: string, path: string): Promise<boolean> =>
  (await topmost({ path: to }, path))?.kind !== 'absent';
