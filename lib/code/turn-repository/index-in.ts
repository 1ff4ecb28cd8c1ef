import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import {
  copyIndexTo,
  entryObject,
  entryPath,
  type IndexLines,
  indexChange,
  indexIn,
  isGitlink,
  ownIndex,
  putLines,
} from './index-back.ts';
import { headsLeft } from './operation.ts';

/** SHA-256 of what an index holds. */
export const indexHashOf = (lines: IndexLines): string =>
  createHash('sha256').update(lines.join('\0'), 'latin1').digest('hex');

interface IndexLeft {
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
export const indexLeft = async (
  git: GitAt<GitWorktree>,
  { dir, room }: Place,
): Promise<IndexLeft> => {
  mkdirSync(room, { recursive: true });
  const before = await ownIndex(git);
  const copy = join(room, 'index');
  const isThere = copyIndexTo(join(dir, 'index'), copy);
  const after = isThere ? await indexIn(git, copy) : undefined;
  const added = after === undefined ? [] : indexChange(before, after).added;
  return {
    before,
    after,
    blobs: added.flatMap((line) => entryObject(line) ?? []),
    heads: headsLeft(dir),
  };
};

export interface IndexBack {
  /** Read as latin1, byte for byte. */
  links: string[];
  notes: string[];
}

interface Given {
  over: Place;
  index: IndexLeft;
  there: ReadonlyMap<string, string>;
  /** The commit that the worktree stands on now. */
  tip: string | undefined;
}

/**
 * Has the worktree's index say what was staged in the turn, so that what was staged and what was not stays apart. One that
 * somebody else changed meanwhile stays; repositories that the base does not know are not put into it.
 */
export const takeInIndex = async (
  git: GitAt<GitWorktree>,
  { over, index, there, tip }: Given,
): Promise<IndexBack> => {
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
  await putLines(git, indexChange(before, takeable(index, there, isNew)));
  return back;
};

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

const STAGED_MEANWHILE =
  'Somebody else staged files in the worktree meanwhile: what they staged stays, what the turn staged is unstaged.';
const NO_INDEX =
  'What was staged cannot be read any more: all changes of the worktree are unstaged. Its files are as they were left.';

// What is not among the objects, for it was deleted in the turn, cannot be staged: the path stays as it was.
const takeable = (
  { before, after = [] }: IndexLeft,
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
