import { readdir } from 'node:fs/promises';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { MOST_LISTED, onDisk } from '../run/index-copy.ts';
import { RAW, rawChanges } from './raw-diff.ts';
import { type Kind, topmost } from './working-files.ts';

/** A path that git is about to write, read as latin1. */
export interface WrittenPath {
  path: string;
  isSubmodule: boolean;
}

/** `RAW` for paths that appear, or change their type. */
export const WRITTEN = [...RAW, '--diff-filter=AT'];

/** Parses the output of `RAW`. */
export const writtenIn = (fields: readonly string[]): WrittenPath[] =>
  rawChanges(fields).map(({ path, now }) => ({ path, isSubmodule: now.mode === '160000' }));

/**
 * The files outside the index that git would remove to write these paths, ignored or not: in their place, in the place of a
 * directory above them, or in a directory that a file replaces. Read as latin1; at most about 100, in the order found.
 */
export const filesInTheWay = async (
  git: GitAt<GitWorktree>,
  written: readonly WrittenPath[],
): Promise<string[]> => {
  if (written.length === 0) return [];
  const tracked = new Set(await git.names(['ls-files', '-z'], { max_bytes: MOST_LISTED }));
  const search: Search = { worktree: git.place, tracked, found: new Set() };
  const known = new Map<string, Kind>();
  for (const each of written) {
    if (search.found.size >= MOST_FOUND) break;
    await addFor(each, search, known);
  }
  return [...search.found];
};

const addFor = async (
  { path, isSubmodule }: WrittenPath,
  search: Search,
  known: Map<string, Kind>,
): Promise<void> => {
  const { worktree, tracked, found } = search;
  const top = await topmost(worktree, path, known);
  if (top !== undefined && top.kind !== 'absent') {
    if (!tracked.has(top.place)) found.add(top.place);
    // git leaves a directory where it puts a submodule. What cannot be looked at seems absent, and is named by `addBelow`.
  } else if (!isSubmodule) await addBelow(path, search);
};

const MOST_FOUND = 100;

interface Search {
  worktree: GitWorktree;
  tracked: ReadonlySet<string>;
  found: Set<string>;
}

const addBelow = async (directory: string, search: Search): Promise<void> => {
  const { worktree, tracked, found } = search;
  const options = { withFileTypes: true, encoding: 'latin1' } as const;
  const entries = await readdir(onDisk(worktree, directory), options).catch(orUnreadable);
  // A directory that cannot be read may have files.
  if (entries === undefined) found.add(directory);
  for (const entry of entries ?? []) {
    const path = `${directory}/${entry.name}`;
    if (found.size >= MOST_FOUND) return;
    if (entry.isDirectory()) await addBelow(path, search);
    else if (!tracked.has(path)) found.add(path);
  }
};

const orUnreadable = ({ code }: NodeJS.ErrnoException): [] | undefined =>
  code === 'ENOENT' || code === 'ENOTDIR' ? [] : undefined;
