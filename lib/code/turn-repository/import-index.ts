import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stagedIndex } from '../../tools/git/read/index-stages.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { nulls } from '../../tools/git/run/index-file.ts';
import { plainText } from '../../tools/git/run/plain-file.ts';
import { readMergeHeads } from './merge-state.ts';

/** SHA-256 of what an index holds. */
export const indexHashOf = (lines: IndexLines): string =>
  createHash('sha256').update(lines.join('\0'), 'latin1').digest('hex');

interface TurnIndex {
  before: IndexLines;
  /** What is staged in the turn's repository; undefined where that cannot be read. */
  after: IndexLines | undefined;
  /** The objects that it has and the worktree's own index has not. */
  blobs: string[];
  /** The commits that a merge under way names. */
  heads: string[];
}

interface Place {
  dir: string;
  room: string;
  index: string;
  head: string | null;
}

/** What is staged in the turn's repository, read from a copy. */
export const readTurnIndex = async (
  git: GitAt<GitWorktree>,
  { dir, room }: Place,
): Promise<TurnIndex> => {
  mkdirSync(room, { recursive: true });
  const before = await readWorktreeIndex(git);
  const copy = join(room, 'index');
  const isThere = copyIndexTo(join(dir, 'index'), copy);
  const after = isThere ? await readUntrustedIndex(git, copy) : undefined;
  const added = after === undefined ? [] : indexChange(before, after).added;
  return {
    before,
    after,
    blobs: added.flatMap((line) => entryObject(line) ?? []),
    heads: readMergeHeads(dir),
  };
};

export interface IndexImport {
  /** Read as latin1, byte for byte. */
  links: string[];
  notes: string[];
}

interface Given {
  over: Place;
  index: TurnIndex;
  there: ReadonlyMap<string, string>;
  /** The commit that the worktree stands on now. */
  tip: string | undefined;
}

/**
 * Has the worktree's index say what was staged in the turn, so that what was staged and what was not stays apart. One that
 * somebody else changed meanwhile stays; repositories that the base does not know are not put into it.
 */
export const importIndex = async (
  git: GitAt<GitWorktree>,
  { over, index, there, tip }: Given,
): Promise<IndexImport> => {
  const { before, after } = index;
  const known = new Set(before.filter(isGitlink).map(entryPath));
  const isNew = (line: string): boolean => isGitlink(line) && !known.has(entryPath(line));
  const links = [
    ...(after ?? []).filter(isNew).map(entryPath),
    ...(await linksBetween(git, { from: over.head, to: tip })).filter((path) => !known.has(path)),
  ];
  const back = { links: [...new Set(links)], notes: [] };
  if (indexHashOf(before) !== over.index) {
    const isSaid =
      after !== undefined &&
      (indexHashOf(after) === over.index ||
        indexChange(before, takeable(index, there, isNew)).paths.length === 0);
    return isSaid ? back : { ...back, notes: [STAGED_MEANWHILE] };
  }
  if (after === undefined) {
    if (before.length === 0) return back;
    await git.run(['read-tree', '--reset', tip ?? EMPTY_TREE]);
    return { ...back, notes: [NO_INDEX] };
  }
  await updateIndex(git, indexChange(before, takeable(index, there, isNew)));
  return back;
};

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

const STAGED_MEANWHILE =
  'Somebody else staged files in the worktree meanwhile: what they staged stays, what the turn staged is unstaged.';
const NO_INDEX =
  'What was staged cannot be read any more: all changes of the worktree are unstaged. Its files are as they were left.';

// What is not among the objects, for it was deleted in the turn, cannot be staged: the path stays as it was.
const takeable = (
  { before, after = [] }: TurnIndex,
  there: ReadonlyMap<string, string>,
  isNew: (line: string) => boolean,
): string[] => {
  const had = new Set(before);
  const isLost = (line: string): boolean =>
    !isGitlink(line) && !had.has(line) && !there.has(entryObject(line) ?? '');
  const lost = new Set(after.filter(isLost).map(entryPath));
  const taken = after.filter((line) => !isNew(line) && !lost.has(entryPath(line)));
  return [...taken, ...before.filter((line) => lost.has(entryPath(line)))];
};

const linksBetween = async (
  git: GitAt<GitWorktree>,
  { from, to }: { from: string | null; to: string | undefined },
): Promise<string[]> => {
  if (from === null || to === undefined || from === to) return [];
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to, '--'];
  const fields = await git.names(args);
  return fields.flatMap((field, at) =>
    /^:\d{6} 160000 /.test(field) && !field.startsWith(':160000') ? [fields[at + 1] ?? ''] : [],
  );
};

/** The entries of an index, a line each as `ls-files --stage` has it; names read as latin1. */
type IndexLines = readonly string[];

/** What the worktree's own index holds. */
export const readWorktreeIndex = (git: GitAt<GitWorktree>): Promise<IndexLines> => listed(git);

/**
 * What an index says that an agent may have written: a copy of it is read, by the worktree's own git. Undefined where that is no index.
 */
const readUntrustedIndex = async (
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
const copyIndexTo = (path: string, to: string): boolean => {
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
const indexChange = (before: IndexLines, after: IndexLines): IndexChange => {
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

const entryPath = (line: string): string => line.slice(line.indexOf('\t') + 1);

/** The object of an entry; undefined of one that names a commit of another repository. */
const entryObject = (line: string): string | undefined =>
  isGitlink(line) ? undefined : line.split(' ', 2)[1];

const isGitlink = (line: string): boolean => line.startsWith('160000 ');

/** Makes the worktree's index say the same. All that git itself knows of unchanged files stays known. */
const updateIndex = async (
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
