import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { orElse } from '../../../../store/base/attempt.ts';
import { ServiceError } from '../../../errors.ts';
import { type ConfigEntry, entriesOfFile, listSettings, settingsText } from '../run/config.ts';
import { GitError } from '../run/error.ts';
import type { Checkout, GitAt, GitPlace, GitSource } from '../run/git.ts';
import { isThere } from '../run/plain-file.ts';
import { isPlainHead, plainCommit, plainTarget } from './plain-refs.ts';

export interface Repository extends Checkout {
  /** The main or linked working tree; the git directory of a bare repository. */
  root: string;
  bare: boolean;
}

/**
 * The repository that contains `path`, or undefined. Trusts the directory's `.git`: use it only for a path that the operator
 * named, never for a worktree of an agent.
 */
export const findRepository = async (
  git: GitSource,
  path: string,
): Promise<Repository | undefined> => {
  const directory = resolve(path);
  const plain = plainRepository(directory);
  if (plain !== undefined) return { bare: false, ...plain };
  if (!(await isDirectory(directory))) return undefined;
  const ask = (...what: string[]): Promise<string[] | undefined> =>
    linesAt(git.at(directory), ['rev-parse', '--path-format=absolute', ...what]);
  const dirs = ['--absolute-git-dir', '--git-common-dir'];
  const checkout = await ask(...dirs, '--show-toplevel');
  if (checkout !== undefined) {
    const [git_dir = '', common_dir = '', ...root] = checkout;
    return { root: root.join('\n'), bare: false, git_dir, common_dir };
  }
  const [bare, git_dir = '', ...rest] = (await ask('--is-bare-repository', ...dirs)) ?? [];
  const common_dir = rest.join('\n');
  return bare === 'true' ? { root: git_dir, bare: true, git_dir, common_dir } : undefined;
};

/**
 * Why no work can be done in a repository that was found, as the end of a sentence that begins with its path; undefined if
 * it can.
 */
export const whyUnfit = ({ root, common_dir }: Repository): string | undefined =>
  `${root}${common_dir}`.includes('\n')
    ? "has a line break in its real path, which separates paths in git's files: rename the directory"
    : undefined;

/** The remote of a partial clone, from which git fetches missing objects; undefined if it leaves out none. */
export const filteredRemote = async (git: GitAt<Checkout>): Promise<string | undefined> => {
  const found = (await listSettings(git, 'utf8')).map(({ key }) => FILTERED.exec(key)?.[1]);
  return found.find((name) => name !== undefined);
};

const FILTERED = /^remote\.(.*)\.partialclonefilter$/s;

/** The commit of HEAD, or undefined if there is none yet. */
export const headCommit = (git: GitAt<GitPlace>): Promise<string | undefined> =>
  commitOf(git, 'HEAD');

/** The commit of a branch, tag or id, or undefined. Reads a branch from git's files where possible. */
export const commitOf = async (git: GitAt<GitPlace>, name: string): Promise<string | undefined> => {
  if (name === '' || name.includes('\0')) return undefined;
  const { place } = git;
  const plain = typeof place === 'string' ? undefined : plainCommit(place, name);
  if (plain !== undefined) return plain ?? undefined;
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  return git.find(args);
};

/** The same for several names, in their order, with one git process. Undefined for a name with a newline. */
export const commitsOf = async (
  git: GitAt<GitPlace>,
  names: readonly string[],
): Promise<(string | undefined)[]> => {
  const asked = names.map((name) => (/[\n\0]/.test(name) ? '' : name));
  const input = asked.map((name) => `${name}^{commit}\n`).join('');
  const answers = await git.lines(['cat-file', '--batch-check'], { input });
  return asked.map((_, at) => /^([0-9a-f]{40,64}) commit \d+$/.exec(answers[at] ?? '')?.[1]);
};

/** The current branch, without `refs/heads/`; undefined if HEAD is detached. */
export const currentBranch = async (git: GitAt<GitPlace>): Promise<string | undefined> =>
  shortName(await symbolicRef(git, 'HEAD'), 'refs/heads/');

/** The full ref that a symbolic ref points to, or undefined. */
export const symbolicRef = async (
  git: GitAt<GitPlace>,
  name: string,
): Promise<string | undefined> => {
  const { place } = git;
  const plain = typeof place === 'string' ? undefined : plainTarget(place, name);
  if (plain === null) return undefined;
  return plain ?? git.find(['symbolic-ref', '--quiet', name]);
};

/** Whether git accepts this as a branch name. False for names that git expands, such as `@{-1}`. */
export const checkBranchName = async (git: GitSource, branch: string): Promise<boolean> => {
  if (PLAIN.test(branch)) return branch !== 'HEAD';
  if (branch === '' || branch.startsWith('-') || branch.includes('\0')) return false;
  const args = ['check-ref-format', '--branch', branch];
  return (await git.at('/').find(args)) === branch;
};

// Words between single slashes: every git version accepts them.
const PLAIN = /^\w[\w-]*(?:\/\w[\w-]*)*$/;

/** A ref name without `prefix`; undefined if it has another prefix. */
export const shortName = (ref: string | undefined, prefix: string): string | undefined =>
  ref?.startsWith(prefix) ? ref.slice(prefix.length) : undefined;

const isDirectory = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
};

const linesAt = async (git: GitAt<string>, args: string[]): Promise<string[] | undefined> => {
  try {
    return (await git.text(args)).split('\n');
  } catch (error) {
    return notARepository(error, git.place);
  }
};

const notARepository = (error: unknown, path: string): undefined => {
  const cause = error instanceof ServiceError ? error.cause : undefined;
  if (!(cause instanceof GitError) || cause.failure !== 'failed') throw error;
  if (cause.stderr.includes('dubious ownership')) throw foreignOwner(path, cause);
  if (/not a git repository|must be run in a work tree/i.test(cause.stderr)) return undefined;
  throw error;
};

const foreignOwner = (path: string, cause: GitError): ServiceError =>
  new ServiceError(
    'no_repository',
    `git refuses to open ${path}: it belongs to another user. If you trust it, run: git config --global --add safe.directory ${path}`,
    { cause },
  );

/**
 * The repository whose working tree is exactly this directory, without running git. Only for the layout that `git init` and
 * `git clone` create, owned by this user; undefined means: ask git.
 */
export const plainRepository = (directory: string): (Checkout & { root: string }) | undefined =>
  orElse(() => {
    const root = realpathSync(directory);
    const git_dir = join(root, '.git');
    const place = { git_dir, common_dir: git_dir };
    const isOurs = [root, git_dir].every((path) => isOwnDirectory(lstatSync(path)));
    return isOurs && isWhole(git_dir) && isPlainHead(place) && isUsual(place)
      ? { root, ...place }
      : undefined;
  }, undefined);

const isOwnDirectory = (found: Stats): boolean =>
  found.isDirectory() && found.uid === process.geteuid?.();

const isWhole = (git_dir: string): boolean => {
  const dirs = ['objects', 'refs'].map((name) => lstatSync(join(git_dir, name)));
  return !isThere(join(git_dir, 'commondir')) && dirs.every((found) => found.isDirectory());
};

const isUsual = (place: Checkout): boolean =>
  entriesOfFile(settingsText(place) ?? '[')?.every(isUsualEntry) === true;

const isUsualEntry = ({ key, value }: ConfigEntry): boolean => {
  if (key === 'core.repositoryformatversion') return value === '0';
  if (key === 'core.bare') return value === 'false';
  return key !== 'core.worktree' && !/^(?:include|extensions\.)/.test(key);
};

/** Whether `commit` equals `of` or is an ancestor of it. False for a commit that the repository does not have. */
export const isAncestor = async (
  git: GitAt<GitPlace>,
  commit: string,
  of: string,
): Promise<boolean> => {
  const args = ['merge-base', '--is-ancestor', commit, of];
  return (await git.find(args)) !== undefined;
};

/** The merge base of two commits; undefined if they have no common ancestor. */
export const mergeBase = (
  git: GitAt<GitPlace>,
  one: string,
  other: string,
): Promise<string | undefined> => git.find(['merge-base', one, other], { ok: [0, 1] });
