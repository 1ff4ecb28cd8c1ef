import { basename } from 'node:path';
import { ServiceError } from '../../../errors.ts';
import { MOST_SHOWN, sizeOf } from '../read/large-files.ts';
import { refusedOf } from '../read/refused-names.ts';
import { headCommit } from '../read/repository.ts';
import { unfilteredFiles } from '../read/required-filters.ts';
import { type FileStatus, parseStatus, STATUS } from '../read/status.ts';
import { type ConfigEntry, isTrue, listSettings, valueIn } from '../run/config.ts';
import type { Git, GitAt, GitWorktree, RunOptions, Setting } from '../run/git.ts';
import { FROM_INPUT, MOST_LISTED, nulls } from '../run/index-copy.ts';
import { lossyPath, pathText } from '../run/path-text.ts';
import { DAEMON, hasIdentity } from './commit.ts';

export interface FilesCommit {
  /** Relative to the top of the worktree, latin1. */
  paths: readonly string[];
  message: string;
  /** No other file has a staged change. */
  isAll: boolean;
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

const commitPaths = async (
  git: GitAt<GitWorktree>,
  { paths, message, isAll }: FilesCommit,
  options: RunOptions,
): Promise<CommittedFiles> => {
  const refused = await stage(git, paths);
  const gone = new Set(refused);
  const taken = paths.filter((path) => !gone.has(path));
  if (taken.length === 0) return { id: null, refused };
  return { id: await commitStaged(git, { paths: taken, message, isAll }, options), refused };
};

// Null if there is nothing to commit.
const commitStaged = async (
  git: GitAt<GitWorktree>,
  { paths, message, isAll }: FilesCommit,
  options: RunOptions,
): Promise<string | null> => {
  const args = ['commit', '--quiet', '--cleanup=whitespace', `--message=${message}`];
  const input = isAll ? undefined : nulls(await knownOf(git, paths));
  if (input?.length === 0) return null;
  const only = input === undefined ? [] : ['--only', ...FROM_INPUT];
  await git.run([...args, ...only], { ...options, ...(input && { input }) });
  return (await headCommit(git)) ?? '';
};

// git refuses a path that is neither in HEAD nor in the index, as that of a new file that was staged and then removed.
const knownOf = async (git: GitAt<GitWorktree>, paths: readonly string[]): Promise<string[]> => {
  const args = ['ls-files', '-z', '--with-tree=HEAD'];
  const known = new Set(await git.names(args, { max_bytes: MOST_LISTED }));
  return paths.filter((path) => known.has(path));
};

// Not `git add`, which compares each path with each of the others. Returns the paths that git refuses.
const stage = async (git: GitAt<GitWorktree>, paths: readonly string[]): Promise<string[]> => {
  const args = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'];
  return refusedOf(await git.run(args, { input: nulls(paths) }), paths);
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
const signersOf = (entries: readonly (ConfigEntry & { local: boolean })[]): Setting[] =>
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
    const stdout = await now.read([...STATUS, '--no-renames']);
    const changed = parseStatus(stdout, 'latin1').files.filter(isCommittable);
    const left_out = isAll ? [] : changed.flatMap((file) => leftOut({ worktree, copied }, file));
    const out = new Set(left_out.map(({ path }) => path));
    const ours = changed.map(({ path }) => path).filter((path) => !out.has(pathText(path)));
    const isWhole = changed.every(({ path, code }) => !out.has(pathText(path)) || !isStaged(code));
    const none = { committed: null, left_out: left_out.slice(0, MOST_NAMED) };
    if (ours.length === 0) return none;
    check?.(ours);
    await refuseUnfiltered(now, ours);
    const env = (await hasIdentity(now)) ? {} : { env: DAEMON };
    const files = { paths: ours, message, isAll: isWhole };
    const { id: commit, refused } = await commitPaths(now, files, env);
    if (commit === null) return none;
    return { ...none, committed: { commit, files: ours.length - refused.length } };
  });

const MOST_NAMED = 100;

// Files that need a filter refuse the whole commit.
const leftOut = (changes: Omit<Changes, 'unfiltered'>, file: FileStatus): LeftOut[] => {
  const why = whyLeftOut({ ...changes, unfiltered: new Set() }, file);
  return why === undefined ? [] : [{ path: pathText(file.path), why }];
};

/** Throws 409 `uncommitted_changes` if one of these files (latin1) needs a filter that is not run. */
export const refuseUnfiltered = async (
  git: GitAt<GitWorktree>,
  paths: readonly string[],
): Promise<void> => {
  const files = [...(await unfilteredFiles(git, paths))].map(pathText);
  if (files.length === 0) return;
  throw new ServiceError(
    'uncommitted_changes',
    `Nothing was committed: the repository requires a filter for ${files.slice(0, 5).join(', ')}, and the daemon runs no filter of a repository. Commit in ${git.place.path} yourself, then try again.`,
    { members: { files: files.slice(0, 100) } },
  );
};

/** Whether the index differs from HEAD; an untracked file, or one that is only intended to be added, is not staged. */
export const isStaged = (code: string): boolean => !/^[.?]/.test(code);

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

/**
 * Why a changed file is not committed by default; undefined if it is. A file of HEAD is, because the repository already has
 * it, unless a filter is missing or no diff shows it.
 */
export const whyLeftOut = (
  { worktree, unfiltered, copied = [] }: Changes,
  file: FileStatus,
): LeftOut['why'] | undefined => {
  if (unfiltered.has(file.path)) return 'filter';
  const isNew = NEW.test(file.code);
  if (isNew && file.repository) return 'repository';
  if (isNew && copied.includes(lossyPath(file.path))) return 'copied';
  if (isNew && isNamedSecret(file.path)) return 'secret';
  return sizeOf(worktree, file.path) > (isNew ? LARGE : MOST_SHOWN) ? 'large' : undefined;
};

// Not in HEAD: untracked, staged (but not in conflict), or only intended to be added.
const NEW = /^(?:\?\?|A[^AU]|\.A|UA)$/;

const LARGE = 5_000_000;

/** Whether a latin1 path is named like a file with secrets. */
export const isNamedSecret = (path: string): boolean => SECRET.test(basename(path));

// File names that tools use for secrets, and an editor's backups of them, without `.env.example` and the like. A name may be
// any bytes but `/`, line breaks too.
const EXAMPLE = '(?:.*[._-])?(?:example|sample|template|dist)';
const SECRETS = [
  `\\.env(?:\\.(?!${EXAMPLE}~?$).*)?`,
  `(?!${EXAMPLE}\\.env~?$).*\\.env`,
  'service[-_]?account(?!.*(?:example|sample|template)).*\\.json',
  '\\.envrc|\\.netrc|_netrc|\\.npmrc|\\.pypirc|\\.pgpass|\\.git-credentials',
  'credentials(?:\\.json)?|secrets?\\.(?:json|ya?ml|toml)|id_(?:rsa|dsa|ecdsa|ed25519)',
  '.*\\.(?:pem|key|p12|pfx|jks|keystore|kdbx)',
];
const SECRET = new RegExp(`^(?:${SECRETS.join('|')})~?$`, 'is');
