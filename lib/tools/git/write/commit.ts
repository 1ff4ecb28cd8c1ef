import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../process/environment.ts';
import { findRepository } from '../read/repository.ts';
import { type FileStatus, parseStatus, STATUS } from '../read/status.ts';
import type { GitAt, GitPlace, GitSource, GitWorktree } from '../run/git.ts';

/** Whether git has been told who commits: it would guess, or refuse, otherwise. */
export const hasIdentity = async (git: GitAt<GitPlace>): Promise<boolean> => {
  const args = ['config', '--get-regexp', '^user\\.(name|email)$'];
  const told = await git.lines(args, { ok: [0, 1] });
  return new Set(told.map((line) => line.split(' ', 1)[0])).size === 2;
};

/** What a command that commits for the operator is told besides: who does, where git does not know. */
export const committer = async (git: GitAt<GitPlace>): Promise<Environment> => {
  if (await hasIdentity(git)) return {};
  return Object.fromEntries(Object.entries(DAEMON).filter(([name]) => name.includes('COMMITTER')));
};

export interface CommitPlace {
  repository: GitWorktree;
  /** The directory that was asked about, from the top of the repository: empty, or with a slash at its end. */
  prefix: string;
}

/** The repository with working files that a directory is in, or undefined. */
export const homeOf = async (
  git: GitSource,
  directory: string,
): Promise<CommitPlace | undefined> => {
  const found = await findRepository(git, directory);
  if (found === undefined || found.bare) return undefined;
  const prefix = await git.at(directory).text(['rev-parse', '--show-prefix']);
  const { root: path, git_dir, common_dir } = found;
  return { repository: { path, git_dir, common_dir }, prefix };
};

export interface Changed {
  /** From the top of the repository. */
  path: string;
  change: 'added' | 'modified' | 'removed';
  /** The index has its name and nothing of its content: git add -N. */
  named?: true;
}

interface Uncommitted {
  /** The branch, or null where HEAD is detached: what is committed there is on no branch. */
  branch: string | null;
  changed: Changed[];
  /** Those that are not to be committed: of which the operator has staged something, and repositories. */
  left: FileStatus[];
}

/** What differs from the last commit below these paths, which begin at the top. Nothing that is ignored. */
export const uncommitted = async (
  git: GitAt<GitWorktree>,
  paths: readonly string[],
): Promise<Uncommitted> => {
  const args = [...STATUS, '--no-renames', '--', ...paths];
  const stdout = await git.read(args);
  const { headers, files } = parseStatus(stdout, 'utf8');
  const branch = headers.get('branch.head') ?? '(detached)';
  return {
    branch: branch === '(detached)' ? null : branch,
    changed: files.filter(isOurs).map(({ path, code }) => ({
      ...{ path, change: CHANGES[code] as Changed['change'] },
      ...(code === '.A' && { named: true }),
    })),
    left: files.filter((file) => !isOurs(file)),
  };
};

const isOurs = ({ code, repository }: FileStatus): boolean =>
  CHANGES[code] !== undefined && !repository;

// Two letters: what the index says of the last commit, and what the file says of the index. `.A` is an intent to add.
const CHANGES: Readonly<Record<string, Changed['change']>> = {
  '??': 'added',
  '.A': 'added',
  '.M': 'modified',
  '.T': 'modified',
  '.D': 'removed',
};

/** Why the daemon does not commit now, and what ends it: git, or the operator with it, is in the middle of something. */
export const inTheMiddle = ({ git_dir }: GitWorktree): string | undefined => {
  const found = Object.entries(UNDER_WAY).find(([name]) => existsSync(join(git_dir, name)));
  if (found === undefined) return undefined;
  const [name, way] = found;
  const advice = name === LOCK ? `${way}: ${join(git_dir, LOCK)}` : way;
  return `git is in the middle of something (${name}): ${advice}`;
};

const LOCK = 'index.lock';
const endOf = (what: string): string => `git ${what} --continue, or git ${what} --abort, ends it`;

const UNDER_WAY: Readonly<Record<string, string>> = {
  [LOCK]:
    'another git is at work; if none is, one has died and left this file, which has to be removed',
  'rebase-merge': endOf('rebase'),
  'rebase-apply': endOf('rebase'),
  MERGE_HEAD: endOf('merge'),
  CHERRY_PICK_HEAD: endOf('cherry-pick'),
  REVERT_HEAD: endOf('revert'),
  sequencer: endOf('cherry-pick'),
  BISECT_LOG: 'git bisect reset ends it',
};

/** Whose name is on commits that the daemon makes for itself, or where git has not been told who its user is. */
export const DAEMON: Environment = {
  GIT_AUTHOR_NAME: 'Dossier',
  GIT_AUTHOR_EMAIL: 'dossier@localhost',
  GIT_COMMITTER_NAME: 'Dossier',
  GIT_COMMITTER_EMAIL: 'dossier@localhost',
};
