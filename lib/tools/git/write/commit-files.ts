import { inSlices } from '../../../../store/base/async.ts';
import { ServiceError } from '../../../errors.ts';
import { MOST_SHOWN, sizeOf } from '../read/large-files.ts';
import { refusedOf } from '../read/refused-names.ts';
import { headCommit } from '../read/repository.ts';
import { unfilteredFiles } from '../read/required-filters.ts';
import { isNamedSecret } from '../read/secret-names.ts';
import { type FileStatus, isNew, readStatus } from '../read/status.ts';
import { isTrue, listSettings, type ScopedEntry, valueIn } from '../run/config.ts';
import type { Git, GitAt, GitWorktree, RunOptions, Setting } from '../run/git.ts';
import { FROM_INPUT, nulls, onIndexCopy } from '../run/index-copy.ts';
import { lossyPath, pathText } from '../run/path-text.ts';
import { DAEMON, identity } from './commit.ts';

/** The paths are relative to the top of the worktree, latin1. */
export interface FilesCommit {
  paths: readonly string[];
  /** Those of them that the index does not have as they are. */
  unstaged: readonly string[];
  /** Other files with a staged change. */
  others: readonly string[];
  message: string;
}

interface CommittedFiles {
  /** Null where git refused all names, or nothing is left to commit. */
  id: string | null;
  /** Paths with names that git refuses. */
  refused: string[];
}

/**
 * Commits these files as they are, new and removed ones too, and no other staged change, in the operator's name and signed if
 * their git signs. Runs no hook. Throws git's error, for example if signing needs a passphrase.
 */
export const commitFiles = async (
  git: GitAt<GitWorktree>,
  files: FilesCommit,
): Promise<CommittedFiles> => commitPaths(git, files, await asTheOperator(git));

/** The commit of these of the changed files of a worktree. */
export const filesToCommit = (
  changed: readonly FileStatus[],
  wanted: readonly string[],
): Omit<FilesCommit, 'message'> => {
  const taken = new Set(wanted);
  const pathsOf = (isOne: (file: FileStatus) => boolean): string[] =>
    changed.filter(isOne).map(({ path }) => path);
  return {
    paths: [...taken],
    // Of a file that was removed from the index, the path may be an ignored file that stays, or a directory by now.
    unstaged: pathsOf(({ path, code }) => taken.has(path) && !code.endsWith('.')),
    others: pathsOf(({ path, code }) => !taken.has(path) && isStaged(code)),
  };
};

const commitPaths = async (
  git: GitAt<GitWorktree>,
  { paths, unstaged, others, message }: FilesCommit,
  options: RunOptions,
): Promise<CommittedFiles> => {
  const refused = await stage(git, unstaged);
  if (refused.length === paths.length) return { id: null, refused };
  return { id: await commitStaged(git, { others, message }, options), refused };
};

// Not `git add`, which compares each path with each of the others. Returns the paths that git refuses.
const stage = async (git: GitAt<GitWorktree>, paths: readonly string[]): Promise<string[]> => {
  const args = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'];
  return refusedOf(await git.run(args, { input: nulls(paths) }), paths);
};

// Not `commit --only`, which takes what the worktree has, not the index. Null if there is nothing to commit.
const commitStaged = async (
  git: GitAt<GitWorktree>,
  { others, message }: Pick<FilesCommit, 'others' | 'message'>,
  options: RunOptions,
): Promise<string | null> => {
  if (others.length === 0) return commitIndex(git, message, options);
  return onIndexCopy(git, Buffer.alloc(0), async (copy) => {
    await copy.run(['reset', '--quiet', ...FROM_INPUT], { input: nulls(others) });
    return commitIndex(copy, message, options);
  });
};

const commitIndex = async (
  git: GitAt<GitWorktree>,
  message: string,
  options: RunOptions,
): Promise<string | null> => {
  const same = ['diff-index', '--cached', '--quiet', '--ignore-submodules=none', 'HEAD', '--'];
  if ((await git.find(same)) !== undefined) return null;
  const args = ['commit', '--quiet', '--cleanup=whitespace', `--message=${message}`];
  await git.run(args, { ...options, read: false });
  return (await headCommit(git)) ?? '';
};

const asTheOperator = async (git: GitAt<GitWorktree>): Promise<RunOptions> => {
  const entries = await listSettings(git, 'latin1');
  const named = ['user.name', 'user.email'].every((key) => valueIn(entries, key) !== undefined);
  const env = named ? {} : DAEMON;
  if (!isTrue(valueIn(entries, 'commit.gpgsign'))) return { env };
  const settings: Setting[] = [['commit.gpgSign', 'true'], ...signersOf(entries)];
  return { settings, env: { ...env, ...UNASKED }, timeout_ms: SIGNING_MS };
};

// Uses the operator's signing program: the repository's configuration could name any.
const signersOf = (entries: readonly ScopedEntry[]): Setting[] =>
  Object.entries(SIGNERS)
    .filter(([key]) => entries.some((entry) => entry.local && entry.key === key))
    .map(([key, usual]) => {
      const own = entries.filter(({ local }) => !local);
      return [key, valueIn(own, key) ?? usual];
    });

const SIGNERS: Readonly<Record<string, string>> = {
  'gpg.program': 'gpg',
  'gpg.openpgp.program': 'gpg',
  'gpg.x509.program': 'gpgsm',
  'gpg.ssh.program': 'ssh-keygen',
  'gpg.ssh.defaultkeycommand': 'false',
};

// A prompt for a passphrase fails, and the time limit ends a signing program that waits for a person.
const UNASKED = {
  DISPLAY: '',
  WAYLAND_DISPLAY: '',
  GPG_TTY: '',
  SSH_ASKPASS: '',
  SSH_ASKPASS_REQUIRE: 'never',
};
const SIGNING_MS = 20_000;

interface LeftOut {
  path: string;
  why: 'secret' | 'copied' | 'large' | 'repository' | 'filter';
}

export interface ChangesCommit {
  /** Null if there was nothing to commit; `files` is the number of files in the commit. */
  committed: { commit: string; files: number } | null;
  /** The first 100 that stay uncommitted. */
  left_out: LeftOut[];
}

interface Wanted {
  message: string;
  /** Commits also the files that a session would leave out (`whyLeftOut`). */
  isAll: boolean;
  /** As in `Changes`. */
  copied?: readonly string[] | undefined;
  /** Gets the latin1 paths of the files to commit before any is staged, and may throw. */
  check?: (paths: readonly string[]) => void;
}

/**
 * Commits the changes of a worktree, staged, unstaged and untracked, in the operator's name. Leaves out ignored files and
 * untracked nested repositories. Runs no hook and signs nothing. Throws 409 `uncommitted_changes`, with nothing committed,
 * if a file needs a filter that is not run.
 */
export const commitWorkingFiles = (
  git: Git,
  worktree: GitWorktree,
  { message, isAll, copied, check }: Wanted,
): Promise<ChangesCommit> =>
  git.turn(worktree, async (now) => {
    const changed = (await readStatus(now)).files.filter(isCommittable);
    // Files that need a filter refuse the whole commit.
    const { paths, left_out } = isAll
      ? { paths: changed.map(({ path }) => path), left_out: [] }
      : await chooseFiles({ worktree, copied, unfiltered: new Set() }, changed);
    const none = { committed: null, left_out: left_out.slice(0, MOST_NAMED) };
    if (paths.length === 0) return none;
    const files = filesToCommit(changed, paths);
    check?.(files.paths);
    await refuseUnfiltered(now, files.paths);
    const env = await identity(now);
    const { id: commit, refused } = await commitPaths(now, { ...files, message }, { env });
    if (commit === null) return none;
    return { ...none, committed: { commit, files: files.paths.length - refused.length } };
  });

const MOST_NAMED = 100;

/** Throws 409 `uncommitted_changes` if one of these files (latin1) needs a filter that is not run. */
const refuseUnfiltered = async (
  git: GitAt<GitWorktree>,
  paths: readonly string[],
): Promise<void> => {
  const files = [...(await unfilteredFiles(git, paths))].map(pathText);
  if (files.length === 0) return;
  throw new ServiceError(
    'uncommitted_changes',
    `Nothing was committed: the repository has a filter for ${files.slice(0, 5).join(', ')}, and the daemon runs no filter of a repository. Commit in ${git.place.path} yourself, then try again.`,
    { members: { files: files.slice(0, 100) } },
  );
};

// Whether the index differs from HEAD; an untracked file, or one that is only intended to be added, is not staged.
const isStaged = (code: string): boolean => !/^[.?]/.test(code);

/** Whether a changed file can be committed: an untracked nested repository cannot. */
export const isCommittable = ({ code, repository }: FileStatus): boolean =>
  code !== '??' || !repository;

interface Changes {
  worktree: GitWorktree;
  /** `unfilteredFiles` of the changed files. */
  unfiltered: ReadonlySet<string>;
  /** Ignored files that were copied into the worktree, as UTF-8: not to be committed, whatever its ignore rules say now. */
  copied?: readonly string[] | undefined;
}

/** Which of these changed files a session commits, as latin1, and which it leaves out. */
export const chooseFiles = async (
  changes: Changes,
  files: readonly FileStatus[],
): Promise<{ paths: string[]; left_out: LeftOut[] }> => {
  const left_out: LeftOut[] = [];
  const paths: string[] = [];
  await inSlices(files, (file) => {
    const why = whyLeftOut(changes, file);
    if (why === undefined) paths.push(file.path);
    else left_out.push({ path: pathText(file.path), why });
  });
  // A file that was removed from the index alone is listed twice, as removed and as untracked.
  const out = new Set(left_out.map(({ path }) => path));
  return { paths: paths.filter((path) => !out.has(pathText(path))), left_out };
};

/**
 * Why a changed file is not committed by default; undefined if it is. A file of HEAD is, because the repository already has
 * it, unless a filter is missing or no diff shows it.
 */
export const whyLeftOut = (
  { worktree, unfiltered, copied = [] }: Changes,
  file: FileStatus,
): LeftOut['why'] | undefined => {
  if (unfiltered.has(file.path)) return 'filter';
  const isAdded = isNew(file);
  if (isAdded && file.repository) return 'repository';
  if (isAdded && copied.includes(lossyPath(file.path))) return 'copied';
  if (isAdded && isNamedSecret(file.path)) return 'secret';
  return sizeOf(worktree, file.path) > (isAdded ? LARGE : MOST_SHOWN) ? 'large' : undefined;
};

/** New files over it are not committed by default; in bytes. */
export const LARGE = 5_000_000;
