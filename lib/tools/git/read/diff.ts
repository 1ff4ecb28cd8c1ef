import { isUtf8 } from 'node:buffer';
import { devNull } from 'node:os';
import { ServiceError } from '../../../errors.ts';
import type { GitAt, GitWorktree, Setting } from '../run/git.ts';
import { onIndexCopy } from '../run/index-copy.ts';
import { pathText } from '../run/path-text.ts';
import { withTextAttributes } from '../run/text-attributes.ts';
import {
  type ChangedFile,
  type DiffOutput,
  headOf,
  NOTHING,
  type ParsedDiff,
  parseDiff,
} from './diff-output.ts';
import { stagedIndex } from './index-stages.ts';
import { largeChanges, takeOutLargeFiles } from './large-files.ts';
import { isObject } from './refs.ts';
import { commitOf } from './repository.ts';
import { isNew, parseStatus, STATUS } from './status.ts';
import { changedSubmodules } from './submodules.ts';
import {
  type Changed,
  pastSpecialFiles,
  type SpecialFiles,
  takeIn,
  takeOutSpecialFiles,
  takeOutWithheld,
} from './take-in.ts';

export interface WorktreeDiff extends ParsedDiff {
  /** The patch without the new files of `withheld`, for a file in the workspace. */
  shared: Buffer;
  /** New files that are named like secrets or were copied from the checkout, as latin1; neither HEAD nor the base has them. */
  withheld: string[];
  /** Untracked nested repositories, submodules with changes, files too large, dropped from the index alone, or of refused names. */
  left_out: string[];
}

interface Against {
  base: string;
  /** Ignored files that were copied into the worktree, as UTF-8: they may hold secrets, whatever its ignore rules say now. */
  copied?: readonly string[] | undefined;
}

/**
 * The differences between the worktree and the commit `base`: committed, staged, unstaged and untracked, but not ignored
 * files. Changes nothing, not even the index.
 */
export const worktreeChanges = (
  git: GitAt<GitWorktree>,
  { base, copied = [] }: Against,
): Promise<WorktreeDiff> =>
  against(git, base, (commit) =>
    onLookedCopy(git, async (copy, listed) => {
      const inside = await changedSubmodules(git);
      if (listed.clean_at === base)
        return { ...parseDiff(NOTHING), ...NONE_WITHHELD, left_out: inside };
      return pastSpecialFiles(copy, async (special) => {
        const { left, refused } = await takeIn(copy, commit, listed, special);
        const unshown = [...[...left, ...refused].map(pathText), ...inside];
        const { shown, left_out } = await readablePastLarge(copy, commit, unshown);
        const { changed, ...diff } = parseDiff(shown);
        const withheld = await takeOutWithheld(copy, commit, { ...listed, copied });
        const shared = withheld.length === 0 ? diff.patch : await patchOf(copy, commit);
        const files = changed.map((file) => typed(file, special));
        return { ...diff, changed: files, shared, withheld, left_out };
      });
    }),
  );

/** Untracked files with names that git refuses, so that nothing of git can keep them. */
export const refusedFiles = (git: GitAt<GitWorktree>, base: string): Promise<string[]> =>
  onLookedCopy(git, async (copy, listed) => {
    const { refused } = await takeIn(
      copy,
      base,
      { ...listed, tracked: [], unmerged: [] },
      NO_FILES,
    );
    return refused.map(pathText);
  });

/** The files of `withheld`. */
export const withheldFiles = (
  git: GitAt<GitWorktree>,
  { base, copied = [] }: Against,
): Promise<string[]> =>
  onLookedCopy(git, (copy, listed) => takeOutWithheld(copy, base, { ...listed, copied }));

const typed = (file: ChangedFile, special: SpecialFiles): ChangedFile => {
  const now = special.get(file.path);
  return now === undefined || file.what !== 'deleted' ? file : { ...file, what: 'type', now };
};

// One `git status` lists untracked files and tells whether there is any change.
const onLookedCopy = async <T>(
  git: GitAt<GitWorktree>,
  work: (copy: GitAt<GitWorktree>, listed: Listing) => Promise<T>,
): Promise<T> => {
  const { said } = await stagedIndex(git);
  return onIndexCopy(git, said.stages, async (copy) => work(copy, await lookedAt(copy)));
};

interface Listing extends Changed {
  /** HEAD, if index and files equal it. */
  clean_at: string | null;
  /** Every tracked file equals the index. */
  is_added_to_alone: boolean;
}

const lookedAt = async (copy: GitAt<GitWorktree>): Promise<Listing> => {
  const { head, files } = parseStatus(await copy.read(LOOK, { settings: NO_CACHE }), 'latin1');
  const named = (codes: RegExp): string[] =>
    files.flatMap(({ code, path }) => (codes.test(code) ? [path] : []));
  return {
    untracked: named(/^\?\?$/),
    fresh: files.filter(isNew).map(({ path }) => path),
    tracked: named(/^[^?]/),
    unmerged: named(/U|^AA$|^DD$/),
    clean_at: files.length === 0 ? head : null,
    is_added_to_alone: files.every(({ code }) => code === '??'),
  };
};

const LOOK = [...STATUS, '--no-ahead-behind', '--no-renames'];
// Read the directories instead of trusting git's cache.
const NO_CACHE: readonly Setting[] = [['core.untrackedCache', 'false']];

const readable = async (git: GitAt, commit: string): Promise<DiffOutput> => {
  const args = ['diff', ...DIFF, '--numstat', '--summary', commit, '--'];
  const plain = await git.read(args, PLAIN_NAMES);
  if (isUtf8(headOf(plain))) return { plain, quoted: plain };
  return { plain, quoted: await git.read(args, QUOTED_NAMES) };
};

// Only a file that a commit has, and that did not change since, is not found before.
const readablePastLarge = async (
  copy: GitAt<GitWorktree>,
  commit: string,
  left_out: readonly string[],
): Promise<{ shown: DiffOutput; left_out: string[] }> => {
  const read = () => withTextAttributes(copy, (plain) => readable(plain, commit));
  try {
    return { shown: await read(), left_out: [...left_out] };
  } catch (error) {
    const large = await largeChanges(copy, commit);
    if (large.length === 0) throw error;
    await takeOutLargeFiles(copy, commit, large);
    return { shown: await read(), left_out: [...left_out, ...large.map(pathText)] };
  }
};

const patchOf = async (copy: GitAt<GitWorktree>, commit: string): Promise<Buffer> =>
  parseDiff(await withTextAttributes(copy, (plain) => readable(plain, commit))).patch;

const NONE_WITHHELD = { shared: Buffer.alloc(0), withheld: [] };

const PLAIN_NAMES = { settings: [['core.quotePath', 'false']] } as const;
const QUOTED_NAMES = { settings: [['core.quotePath', 'true']] } as const;

/** Writes the shared patch, of any length, into an open file descriptor. */
export const diffInto = (
  git: GitAt<GitWorktree>,
  { base, copied = [] }: Against,
  into: number,
): Promise<void> =>
  against(git, base, (commit) =>
    onLookedCopy(git, async (copy, listed) => {
      // Before git writes output, which cannot be taken back.
      const special = listed.is_added_to_alone ? NO_FILES : await takeOutSpecialFiles(copy);
      await takeIn(copy, commit, listed, special);
      await takeOutWithheld(copy, commit, { ...listed, copied });
      await takeOutLargeFiles(copy, commit, await largeChanges(copy, commit));
      const args = ['diff', ...DIFF, commit, '--'];
      const options = { ...PLAIN_NAMES, into, timeout_ms: LONG_MS };
      await withTextAttributes(copy, (plain) => plain.run(args, options));
    }),
  );

const NO_FILES: SpecialFiles = new Map();
const LONG_MS = 600_000;

// The diff itself resolves an object id; only if it fails, check whether the commit is missing.
const against = async <T>(
  git: GitAt<GitWorktree>,
  base: string,
  work: (commit: string) => Promise<T>,
): Promise<T> => {
  if (!isObject(base)) return work(await baseCommit(git, base));
  try {
    return await work(`${base}^{commit}`);
  } catch (error) {
    await baseCommit(git, base);
    throw error;
  }
};

const baseCommit = async (git: GitAt<GitWorktree>, base: string): Promise<string> => {
  const commit = await commitOf(git, base);
  if (commit !== undefined) return commit;
  throw new ServiceError(
    'git_failed',
    `The repository no longer has the commit ${base}, so there is no diff.`,
  );
};

/** Options of every patch: independent of the user's diff configuration, and without drivers. */
export const PATCH = [
  '--patch',
  '--binary',
  '--full-index',
  '--unified=3',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--no-relative',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--submodule=short',
  '--ignore-submodules=dirty',
];

const DIFF = [...PATCH, '--find-renames', `-O${devNull}`];
