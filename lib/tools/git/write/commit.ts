import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../process/environment.ts';
import { findRepository } from '../read/repository.ts';
import { unfilteredFiles } from '../read/required-filters.ts';
import { type FileStatus, parseStatus, STATUS } from '../read/status.ts';
import type { GitAt, GitPlace, GitSource, GitWorktree } from '../run/git.ts';
import { latin1 } from '../run/path-text.ts';

/** Variables that name author and committer, unless user.name and user.email are configured: git guesses, or refuses. */
export const identity = async (git: GitAt<GitPlace>): Promise<Environment> => {
  const args = ['config', '--get-regexp', '^user\\.(name|email)$'];
  const told = await git.lines(args, { ok: [0, 1] });
  return new Set(told.map((line) => line.split(' ', 1)[0])).size === 2 ? {} : DAEMON;
};

/** The same for the committer alone. */
export const committer = async (git: GitAt<GitPlace>): Promise<Environment> => {
  const variables = Object.entries(await identity(git));
  return Object.fromEntries(variables.filter(([name]) => name.includes('COMMITTER')));
};

export interface CommitPlace {
  repository: GitWorktree;
  /** The directory relative to the top of the repository: empty, or with a trailing slash. */
  prefix: string;
}

/** The repository with a working tree that contains a directory, or undefined. */
export const homeOf = async (
  git: GitSource,
  directory: string,
): Promise<CommitPlace | undefined> => {
  const found = await findRepository(git, directory);
  if (found === undefined || found.bare) return undefined;
  const { root: path, git_dir, common_dir } = found;
  const prefix =
    path === directory ? '' : await git.at(directory).text(['rev-parse', '--show-prefix']);
  return { repository: { path, git_dir, common_dir }, prefix };
};

export interface Changed {
  /** Relative to the top of the repository. */
  path: string;
  change: 'added' | 'modified' | 'removed';
  /** The index has an intent-to-add entry (git add -N). */
  named?: true;
}

interface Uncommitted {
  /** The branch, or null if HEAD is detached. */
  branch: string | null;
  changed: Changed[];
  left: LeftFile[];
}

/** A change that is not committed: a file with a staged change, a nested repository, or a file that needs a filter. */
export interface LeftFile extends FileStatus {
  /** It is in `unfilteredFiles`. */
  unfiltered: boolean;
}

/** Changes since the last commit below these paths, relative to the top. Without ignored files. */
export const uncommitted = async (
  git: GitAt<GitWorktree>,
  paths: readonly string[],
): Promise<Uncommitted> => {
  const args = [...STATUS, '--no-renames', '--', ...paths];
  const stdout = await git.read(args);
  const { branch, files } = parseStatus(stdout, 'utf8');
  const unfiltered = await unfilteredFiles(
    git,
    files.filter(isOurs).map(({ path }) => latin1(path)),
  );
  const all = files.map((file) => ({ ...file, unfiltered: unfiltered.has(latin1(file.path)) }));
  const isTaken = (file: LeftFile): boolean => isOurs(file) && !file.unfiltered;
  return {
    branch,
    changed: all.filter(isTaken).map(({ path, code }) => ({
      path,
      change: CHANGES[code] as Changed['change'],
      ...(code === '.A' && { named: true }),
    })),
    left: all.filter((file) => !isTaken(file)),
  };
};

const isOurs = ({ code, repository }: FileStatus): boolean =>
  CHANGES[code] !== undefined && !repository;

// Status codes: index against HEAD, then file against index. `.A` is an intent-to-add entry.
const CHANGES: Readonly<Record<string, Changed['change']>> = {
  '??': 'added',
  '.A': 'added',
  '.M': 'modified',
  '.T': 'modified',
  '.D': 'removed',
};

/**
 * Why the daemon cannot commit now, and what to do: an operation of git is in progress. Undefined if none is. `harmless` names
 * operations that do not count.
 */
export const operationInProgress = (
  { git_dir }: Pick<GitWorktree, 'git_dir'>,
  harmless: readonly string[] = [],
): string | undefined => {
  const found = Object.entries(UNDER_WAY).find(
    ([name]) => !harmless.includes(name) && existsSync(join(git_dir, name)),
  );
  if (found === undefined) return undefined;
  const [name, action] = found;
  const advice = name === LOCK ? `${action}: ${join(git_dir, LOCK)}` : action;
  return `a git operation is in progress (${name}): ${advice}`;
};

const LOCK = 'index.lock';
const endOf = (what: string): string => `run git ${what} --continue or git ${what} --abort`;

const UNDER_WAY: Readonly<Record<string, string>> = {
  [LOCK]: 'another git command is running; if none is, remove the file that it left',
  'rebase-merge': endOf('rebase'),
  'rebase-apply': endOf('rebase'),
  MERGE_HEAD: endOf('merge'),
  CHERRY_PICK_HEAD: endOf('cherry-pick'),
  REVERT_HEAD: endOf('revert'),
  sequencer: endOf('cherry-pick'),
  BISECT_LOG: 'run git bisect reset',
};

/** The identity of the daemon's own commits, and of commits without a configured user. */
export const DAEMON: Environment = {
  GIT_AUTHOR_NAME: 'Dossier',
  GIT_AUTHOR_EMAIL: 'dossier@localhost',
  GIT_COMMITTER_NAME: 'Dossier',
  GIT_COMMITTER_EMAIL: 'dossier@localhost',
};

interface DaemonCommit {
  ref: string;
  parents: readonly string[];
  message: string;
  /** Blobs to store. */
  contents?: readonly Buffer[];
  /** File lines of `git fast-import`; without any, the tree is empty. */
  entries?: readonly string[];
  /** Overwrites a ref that exists; without it git refuses that. */
  isForced?: boolean;
}

/** Makes a commit of the daemon under a ref. One process writes blobs, trees, the commit and its ref. */
export const commitAt = async (git: GitAt, commit: DaemonCommit): Promise<string> => {
  const { ref, parents, message, contents = [], entries = [], isForced = false } = commit;
  const { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email } = DAEMON;
  const lines = [
    `commit ${ref}`,
    'mark :1',
    `committer ${name} <${email}> ${Math.floor(Date.now() / 1000)} +0000`,
    `data ${Buffer.byteLength(message)}\n${message}`,
    ...parents.map((parent, at) => `${at === 0 ? 'from' : 'merge'} ${parent}`),
    'deleteall',
    ...entries,
    'get-mark :1\n',
  ].join('\n');
  const blobs = contents.flatMap((content) => [
    Buffer.from(`blob\ndata ${content.length}\n`),
    content,
    Buffer.from('\n'),
  ]);
  const args = ['fast-import', '--quiet', ...(isForced ? ['--force'] : [])];
  const { stdout } = await git.run(args, { input: Buffer.concat([...blobs, Buffer.from(lines)]) });
  return stdout.toString('latin1').trimEnd();
};
