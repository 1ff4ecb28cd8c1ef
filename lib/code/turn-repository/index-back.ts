import { writeFileSync } from 'node:fs';
import { stagedIndex } from '../../tools/git/read/index-stages.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { nulls } from '../../tools/git/run/index-copy.ts';
import { plainText } from '../../tools/git/run/plain-file.ts';

/** The entries of an index, a line each as `ls-files --stage` has it; names read as latin1. */
export type IndexLines = readonly string[];

/** What the worktree's own index holds. */
export const ownIndex = (git: GitAt<GitWorktree>): Promise<IndexLines> => listed(git);

/**
 * What an index says that an agent may have written: a copy of it is read, by the worktree's own git. Undefined where that is no index.
 */
export const indexIn = async (
  git: GitAt<GitWorktree>,
  path: string,
): Promise<IndexLines | undefined> => {
  try {
    return await listed(git, path);
  } catch {
    return undefined;
  }
};

const listed = async (git: GitAt<GitWorktree>, path?: string): Promise<IndexLines> => {
  const { said } = await stagedIndex(git, path);
  const lines = said.stages.toString('latin1').split('\0').slice(0, -1);
  return lines.map((line) => line.slice(TAG));
};

// A letter and a space: what git is told of looking at the file.
const TAG = 2;

const MOST_BYTES = 1024 * 1024 * 1024;

/** Copies an index to where only the daemon writes; false where there is none. */
export const copyIndexTo = (path: string, to: string): boolean => {
  const text = plainText(path, MOST_BYTES);
  if (text === undefined) return false;
  writeFileSync(to, text, 'latin1');
  return true;
};

interface IndexChange {
  /** All lines of paths that are not what they were. */
  added: string[];
  paths: string[];
  /** How long an object's id is. */
  width: number;
}

/** What differs between two indexes. */
export const indexChange = (before: IndexLines, after: IndexLines): IndexChange => {
  const [had, has] = [new Set(before), new Set(after)];
  const differs = [
    ...after.filter((line) => !had.has(line)),
    ...before.filter((line) => !has.has(line)),
  ];
  const paths = new Set(differs.map(entryPath));
  return {
    added: after.filter((line) => paths.has(entryPath(line))),
    paths: [...paths],
    width: differs[0]?.split(' ', 2)[1]?.length ?? 40,
  };
};

export const entryPath = (line: string): string => line.slice(line.indexOf('\t') + 1);

/** The object of an entry; undefined of one that names a commit of another repository. */
export const entryObject = (line: string): string | undefined =>
  isGitlink(line) ? undefined : line.split(' ', 2)[1];

export const isGitlink = (line: string): boolean => line.startsWith('160000 ');

/** Makes the worktree's index say the same. All that git itself knows of unchanged files stays known. */
export const putLines = async (
  git: GitAt<GitWorktree>,
  { added, paths, width }: IndexChange,
): Promise<void> => {
  if (paths.length === 0) return;
  const nothing = '0'.repeat(width);
  // All of a path at once: its stages, or a directory that a file becomes.
  const lines = [...paths.map((path) => `0 ${nothing}\t${path}`), ...added];
  await git.run(['update-index', '-z', '--index-info'], { input: nulls(lines) });
  await git.run(['update-index', '-q', '--refresh'], { ok: [0, 1] });
};
