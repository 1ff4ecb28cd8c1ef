import { inSlices } from '../../../../store/base/async.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { branchCommit } from '../../../tools/git/read/base.ts';
import {
  type CommitPair,
  filesBetween,
  type TriedMerge,
  tryMerges,
} from '../../../tools/git/read/merge-tree.ts';
import { commitOf } from '../../../tools/git/read/repository.ts';
import { type Checkout, type Git, type GitAt, repositoryOf } from '../../../tools/git/run/git.ts';
import { pathText } from '../../../tools/git/run/path-text.ts';

interface FoundOverlaps {
  overlaps: Overlap[];
  /** Branches whose base has all of their changes. */
  merged: FinishedBranch[];
}

/** A branch with finished work, as its files in git say now. */
export interface FinishedBranch
  extends Pick<WorktreeRecord, 'case_id' | 'branch' | 'base' | 'base_commit' | 'common_dir'> {
  commit: string;
  /** The commit of the base branch now; undefined if there is no such branch. */
  base_now: string | undefined;
}

/** A branch whose commits conflict with another finished branch, or with its base since that moved. */
export interface Overlap {
  case_id: string;
  /** The Work item of the other branch; undefined for the base. */
  other: string | undefined;
  base: string;
  commits: CommitPair;
  /** The files in conflict. */
  files: string[];
}

/** What git answered about pairs of commits, which never changes. */
export interface OverlapCache {
  merges: Map<string, TriedMerge | undefined>;
  files: Map<string, string[]>;
}

export const createOverlapCache = (): OverlapCache => ({ merges: new Map(), files: new Map() });

/**
 * The branch of a worktree and its base; undefined without commits of its own, or if it is its own base. Runs git only for
 * unusual ref names.
 */
export const finishedBranch = async (
  git: Git,
  record: WorktreeRecord,
): Promise<FinishedBranch | undefined> => {
  const { case_id, branch, base, base_commit, common_dir } = record;
  if (branch === base) return undefined;
  const at = git.at(repositoryOf(record));
  const commit = await commitOf(at, `refs/heads/${branch}`);
  if (commit === undefined || commit === base_commit) return undefined;
  const base_now = await branchCommit(at, base);
  return { case_id, branch, base, base_commit, common_dir, commit, base_now };
};

/**
 * The conflicts between unmerged branches of one repository, and of each with its base. Only branches that changed the same
 * file are merged, at most 500 pairs, and each pair once: with a warm cache, no git process runs.
 */
export const findOverlaps = async (
  git: Git,
  branches: readonly FinishedBranch[],
  cache: OverlapCache,
): Promise<FoundOverlaps> => {
  const [first] = branches;
  if (first === undefined) return { overlaps: [], merged: [] };
  const at = git.at(repositoryOf(first));
  const known = { git: at, cache };
  const withBase = branches.flatMap(({ commit, base_now }): CommitPair[] =>
    base_now === undefined
      ? []
      : [
          [base_now, base_now],
          [base_now, commit],
        ],
  );
  await learnMerges(known, withBase);
  const unmerged = branches.filter((branch) => !isMerged(branch, cache));
  await learnFiles(known, unmerged);
  const pairs = await pairsThatShareFiles(unmerged, cache);
  const asked = pairs.map(([one, other]): CommitPair => [one.commit, other.commit]);
  await learnMerges(known, asked);
  forgetOthers(cache.merges, [...withBase, ...asked]);
  forgetOthers(cache.files, unmerged.map(rangeOf));
  const overlaps = [
    ...unmerged.flatMap((branch) => withItsBase(branch, cache)),
    ...pairs.flatMap(([one, other]) => withOther(one, other, cache)),
  ];
  return { overlaps, merged: branches.filter((branch) => !unmerged.includes(branch)) };
};

const MOST_PAIRS = 500;

interface Known {
  git: GitAt<Checkout>;
  cache: OverlapCache;
}

const keyOf = (pair: CommitPair): string => pair.join(' ');

const unknown = (pairs: readonly CommitPair[], cache: ReadonlyMap<string, unknown>): CommitPair[] =>
  [...new Map(pairs.map((pair) => [keyOf(pair), pair])).values()].filter(
    (pair) => !cache.has(keyOf(pair)),
  );

const learnMerges = async ({ git, cache }: Known, pairs: readonly CommitPair[]): Promise<void> => {
  const asked = unknown(pairs, cache.merges);
  for (const [at, merge] of (await tryMerges(git, asked)).entries())
    cache.merges.set(keyOf(asked[at] ?? ['', '']), merge);
};

const forgetOthers = (known: Map<string, unknown>, used: readonly CommitPair[]): void => {
  const keys = new Set(used.map(keyOf));
  for (const key of known.keys()) if (!keys.has(key)) known.delete(key);
};

const learnFiles = async (
  { git, cache }: Known,
  branches: readonly FinishedBranch[],
): Promise<void> => {
  const asked = unknown(branches.map(rangeOf), cache.files);
  for (const [at, files] of (await filesBetween(git, asked)).entries())
    cache.files.set(keyOf(asked[at] ?? ['', '']), files);
};

const rangeOf = ({ base_commit, commit }: FinishedBranch): CommitPair => [base_commit, commit];

// Also true after a squash merge: merging the branch again changes nothing.
const isMerged = (
  { commit, base_now }: FinishedBranch,
  { merges }: Pick<OverlapCache, 'merges'>,
): boolean => {
  if (base_now === undefined) return false;
  const merged = merges.get(keyOf([base_now, commit]));
  return (
    merged?.conflicts.length === 0 && merged.tree === merges.get(keyOf([base_now, base_now]))?.tree
  );
};

const pairsThatShareFiles = async (
  branches: readonly FinishedBranch[],
  { files }: Pick<OverlapCache, 'files'>,
): Promise<BranchPair[]> => {
  const lists = branches.map((branch) => files.get(keyOf(rangeOf(branch))) ?? []);
  const sets = lists.map((list) => new Set(list.slice(0, MOST_FILES)));
  const pairs: BranchPair[] = [];
  const all = branches.flatMap((branch, at) =>
    branches.slice(0, at).map((one, before) => ({ pair: [one, branch] as const, before, at })),
  );
  await inSlices(all, ({ pair, before, at }) => {
    if (pairs.length === MOST_PAIRS) return;
    // A list that is cut can share any file.
    const isCut = [before, at].some((n) => (lists[n]?.length ?? 0) > MOST_FILES);
    const has = (file: string): boolean => sets[before]?.has(file) === true;
    if (isCut || [...(sets[at] ?? [])].some(has)) pairs.push(pair);
  });
  return pairs;
};

const MOST_FILES = 1000;

type BranchPair = readonly [FinishedBranch, FinishedBranch];

const withItsBase = (
  { case_id, base, base_commit, commit, base_now }: FinishedBranch,
  { merges }: Pick<OverlapCache, 'merges'>,
): Overlap[] => {
  if (base_now === undefined || base_now === base_commit) return [];
  const files = namesOf(merges.get(keyOf([base_now, commit])));
  const commits = [base_now, commit] as const;
  return files.length === 0 ? [] : [{ case_id, other: undefined, base, commits, files }];
};

const withOther = (
  one: FinishedBranch,
  { case_id, base, commit }: FinishedBranch,
  { merges }: Pick<OverlapCache, 'merges'>,
): Overlap[] => {
  const commits = [one.commit, commit] as const;
  const files = namesOf(merges.get(keyOf(commits)));
  return files.length === 0 ? [] : [{ case_id, other: one.case_id, base, commits, files }];
};

const namesOf = (merge: TriedMerge | undefined): string[] => (merge?.conflicts ?? []).map(pathText);
