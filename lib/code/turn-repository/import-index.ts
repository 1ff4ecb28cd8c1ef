import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../../store/base/sha256.ts';
import { stagedIndex } from '../../tools/git/read/index-stages.ts';
import { RAW, rawChanges } from '../../tools/git/read/raw-diff.ts';
import type { GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { nulls } from '../../tools/git/run/index-copy.ts';
import { plainText } from '../../tools/git/run/plain-file.ts';
import { readMergeHeads } from './merge-state.ts';

/** SHA-256 of the entries of an index. */
export const indexHashOf = (lines: IndexLines): string =>
  sha256(Buffer.from(lines.join('\0'), 'latin1'));

interface TurnIndex {
  before: IndexLines;
  /** The entries in the turn's repository; undefined if unreadable. */
  after: IndexLines | undefined;
  /** Objects that only the turn's index refers to. */
  blobs: string[];
  /** Commits named by a merge in progress. */
  heads: string[];
}

interface Place {
  dir: string;
  room: string;
  index: string;
  head: string | null;
}

/** Reads the index of the turn's repository from a copy. */
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
  /** Paths of new gitlinks, as latin1. */
  links: string[];
  notes: string[];
}

interface IndexImportInput {
  over: Place;
  index: TurnIndex;
  there: ReadonlyMap<string, string>;
  /** The commit that HEAD of the worktree points to now. */
  tip: string | undefined;
}

/**
 * Applies what the turn staged to the worktree's index. Leaves an index that changed meanwhile as it is, and does not
 * add gitlinks that the base does not have.
 */
export const importIndex = async (
  git: GitAt<GitWorktree>,
  { over, index, there, tip }: IndexImportInput,
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
  'The index of the worktree changed during the turn: it was kept, and the changes that the turn staged are unstaged.';
const NO_INDEX =
  'The index of the turn cannot be read: all changes in the worktree are unstaged. Its files were not changed.';

// An entry whose object is missing cannot be staged: the path keeps its former entry.
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
  const changes = rawChanges(await git.names(['diff-tree', ...RAW, from, to, '--']));
  return changes.flatMap(({ path, before, now }) =>
    now.mode === GITLINK && before.mode !== GITLINK ? [path] : [],
  );
};

/** Index entries in the format of `ls-files --stage`, names decoded as latin1. */
type IndexLines = readonly string[];

/** Reads the worktree's own index. */
export const readWorktreeIndex = (git: GitAt<GitWorktree>): Promise<IndexLines> => listed(git);

/** Reads a copy of an index that an agent may have written, with the worktree's own git. Undefined if it is invalid. */
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

// Each line starts with a tag letter and a space.
const TAG = 2;

const MOST_BYTES = 1024 * 1024 * 1024;

/** Copies an index to a path that only the daemon writes. Returns false if there is none. */
const copyIndexTo = (path: string, to: string): boolean => {
  const text = plainText(path, MOST_BYTES);
  if (text === undefined) return false;
  writeFileSync(to, text, 'latin1');
  return true;
};

interface IndexChange {
  /** The new entries of all changed paths. */
  added: string[];
  paths: string[];
  /** Length of an object id in characters. */
  width: number;
}

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

/** The object id of an entry; undefined for a gitlink. */
const entryObject = (line: string): string | undefined =>
  isGitlink(line) ? undefined : line.split(' ', 2)[1];

const isGitlink = (line: string): boolean => line.startsWith(`${GITLINK} `);

const GITLINK = '160000';

/** Applies a change to the worktree's index. Cached file stats of unchanged entries are kept. */
const updateIndex = async (
  git: GitAt<GitWorktree>,
  { added, paths, width }: IndexChange,
): Promise<void> => {
  if (paths.length === 0) return;
  const nothing = '0'.repeat(width);
  // Remove a changed path first: it may have other stages now, or a file may have become a directory.
  const lines = [...paths.map((path) => `0 ${nothing}\t${path}`), ...added];
  await git.run(['update-index', '-z', '--index-info'], { input: nulls(lines) });
  await git.run(['update-index', '-q', '--refresh'], { ok: [0, 1] });
};
