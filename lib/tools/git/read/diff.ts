import { isUtf8 } from 'node:buffer';
import { devNull } from 'node:os';
import { ServiceError } from '../../../errors.ts';
import type { GitAt, GitWorktree, Setting } from '../run/git.ts';

import { onIndexCopy } from '../run/index-copy.ts';
import { pathText } from '../run/path-text.ts';
import { withTextAttributes } from '../run/text-attributes.ts';
import { stagedIndex } from './index-stages.ts';
import { largeChanges, takeOutLargeFiles } from './large-files.ts';
import { isObject } from './refs.ts';
import { commitOf } from './repository.ts';
import { parseStatus, STATUS } from './status.ts';
import { changedSubmodules } from './submodules.ts';
import {
  type Changed,
  pastSpecialFiles,
  type SpecialFiles,
  type SpecialKind,
  takeIn,
  takeOutSpecialFiles,
} from './take-in.ts';

/** One changed file. Its path is as git prints it: quoted if necessary, `{old => new}` for a rename. */
export interface ChangedFile {
  path: string;
  what: 'added' | 'deleted' | 'renamed' | 'copied' | 'mode' | 'type' | 'changed';
  /** The kind of special file that replaced it; the patch shows it as deleted. */
  now?: SpecialKind;
  /** Lines; null for a binary file. */
  additions: number | null;
  deletions: number | null;
}

export interface WorktreeDiff {
  /** A patch for `git apply`, as bytes: its lines have the encodings of the files. */
  patch: Buffer;
  changed: ChangedFile[];
  /** Untracked nested repositories, submodules with changes, files that are too large, and names that git refuses. */
  left_out: string[];
  files: number;
  additions: number;
  deletions: number;
}

/**
 * The differences between the worktree and the commit `base`: committed, staged, unstaged and untracked, but not ignored
 * files. Changes nothing, not even the index.
 */
export const worktreeChanges = (git: GitAt<GitWorktree>, base: string): Promise<WorktreeDiff> =>
  against(git, base, (commit) =>
    onLookedCopy(git, async (copy, listed) => {
      const inside = await changedSubmodules(git);
      if (listed.clean_at === base) return { ...parseDiff(NOTHING), left_out: inside };
      return pastSpecialFiles(copy, async (special) => {
        const { left, refused } = await takeIn(copy, commit, listed, special);
        const unshown = [...[...left, ...refused].map(pathText), ...inside];
        const { shown, left_out } = await readablePastLarge(copy, commit, unshown);
        const { changed, ...diff } = parseDiff(shown);
        return { ...diff, changed: changed.map((file) => typed(file, special)), left_out };
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
    tracked: named(/^[^?]/),
    unmerged: named(/U|^AA$|^DD$/),
    clean_at: files.length === 0 ? head : null,
    is_added_to_alone: files.every(({ code }) => code === '??'),
  };
};

const LOOK = [...STATUS, '--no-ahead-behind', '--no-renames'];
// Read the directories instead of trusting git's cache.
const NO_CACHE: readonly Setting[] = [['core.untrackedCache', 'false']];

/** git's output with raw names, and with non-ASCII names quoted; the same buffer if all names are UTF-8. */
interface Shown {
  plain: Buffer;
  quoted: Buffer;
}

const readable = async (git: GitAt, commit: string): Promise<Shown> => {
  const args = ['diff', ...DIFF, '--numstat', '--summary', commit, '--'];
  const plain = await git.read([...PLAIN_NAMES, ...args]);
  if (isUtf8(headOf(plain))) return { plain, quoted: plain };
  return { plain, quoted: await git.read(['-c', 'core.quotePath=true', ...args]) };
};

// Only a file that a commit has, and that did not change since, is not found before.
const readablePastLarge = async (
  copy: GitAt<GitWorktree>,
  commit: string,
  left_out: readonly string[],
): Promise<{ shown: Shown; left_out: string[] }> => {
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

const NOTHING: Shown = { plain: Buffer.alloc(0), quoted: Buffer.alloc(0) };

const PLAIN_NAMES = ['-c', 'core.quotePath=false'];

/** Writes the same patch, of any length, into an open file descriptor. */
export const diffInto = (git: GitAt<GitWorktree>, base: string, into: number): Promise<void> =>
  against(git, base, (commit) =>
    onLookedCopy(git, async (copy, listed) => {
      // Before git writes output, which cannot be taken back.
      const special = listed.is_added_to_alone ? NO_FILES : await takeOutSpecialFiles(copy);
      await takeIn(copy, commit, listed, special);
      await takeOutLargeFiles(copy, commit, await largeChanges(copy, commit));
      const args = [...PLAIN_NAMES, 'diff', ...DIFF, commit, '--'];
      await withTextAttributes(copy, (plain) => plain.run(args, { into, timeout_ms: LONG_MS }));
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

// The output has one numstat line per file, then summary lines that begin with a space, then an empty line and the patch.
const parseDiff = ({ plain, quoted }: Shown): Omit<WorktreeDiff, 'left_out'> => {
  const end = quoted.indexOf('\n\n');
  const lines = linesOf({ plain, quoted });
  const kinds = new Map(lines.flatMap((line) => kindIn(line) ?? []));
  const changed = lines
    .filter((line) => !line.startsWith(' '))
    .map((line) => countsIn(line, kinds));
  const sum = (of: 'additions' | 'deletions'): number =>
    changed.reduce((total, file) => total + (file[of] ?? 0), 0);
  return {
    patch: end < 0 ? Buffer.alloc(0) : quoted.subarray(end + 2),
    changed,
    files: changed.length,
    additions: sum('additions'),
    deletions: sum('deletions'),
  };
};

// Takes the quoted form only of names that are not UTF-8.
const linesOf = ({ plain, quoted }: Shown): string[] => {
  const instead = headOf(quoted).toString('latin1').split('\n');
  const lines = headOf(plain).toString('latin1').split('\n');
  return lines
    .map((line, at) => {
      const bytes = Buffer.from(line, 'latin1');
      return isUtf8(bytes) ? bytes.toString('utf8') : (instead[at] ?? '');
    })
    .filter((line) => line !== '');
};

const headOf = (output: Buffer): Buffer => output.subarray(0, Math.max(0, output.indexOf('\n\n')));

type Kind = readonly [path: string, what: ChangedFile['what']];

const kindIn = (line: string): Kind[] | undefined => {
  const [, word = '', path = ''] =
    /^ (create mode|delete mode|mode change|rename|copy) (?:\d{6}(?: => \d{6})? )?(.*)$/.exec(
      line,
    ) ?? [];
  const what = OTHER_TYPE.test(line) ? 'type' : KINDS[word];
  if (what === undefined) return undefined;
  const moved = what === 'renamed' || what === 'copied';
  return [[moved ? path.replace(/ \(\d+%\)$/, '') : path, what]];
};

// The first two digits of a mode are the type: a file, a link or a submodule.
const OTHER_TYPE = /^ mode change (\d\d)\d{4} => (?!\1)/;

const KINDS: Record<string, ChangedFile['what']> = {
  'create mode': 'added',
  'delete mode': 'deleted',
  'mode change': 'mode',
  rename: 'renamed',
  copy: 'copied',
};

// numstat prints dashes for a binary file.
const countsIn = (line: string, kinds: ReadonlyMap<string, ChangedFile['what']>): ChangedFile => {
  const [additions = '', deletions = '', ...rest] = line.split('\t');
  const path = rest.join('\t');
  const count = (text: string): number | null => (text === '-' ? null : Number(text));
  return {
    path,
    what: kinds.get(path) ?? 'changed',
    additions: count(additions),
    deletions: count(deletions),
  };
};
