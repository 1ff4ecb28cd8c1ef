import { existsSync, readFileSync, statSync } from 'node:fs';
import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { orElse, unlessFault } from '../../../../store/base/attempt.ts';
import { invalidState, ServiceError } from '../../../errors.ts';
import { isObject } from '../read/refs.ts';
import { checkBranchName, commitsOf } from '../read/repository.ts';
import { status } from '../read/status.ts';
import { isRefusal } from '../run/error.ts';
import { type Checkout, type Git, type GitAt, type GitWorktree, repositoryOf } from '../run/git.ts';
import { removeEntries } from './worktree-entry.ts';

export interface NewWorktree {
  repository: Checkout;
  path: string;
  branch: string;
  /** Where a new branch starts; a branch that exists is checked out as it is. */
  base: string;
  /** Why the worktree is locked: git's own clean-up leaves a locked one alone. */
  reason: string;
}

export interface AddedWorktree extends GitWorktree {
  /** The branch was made with it, so it stands on the base. */
  new_branch: boolean;
}

/** Makes a locked worktree on `branch`. One that git remembers there, or on the branch, but whose directory was
 * deleted by hand, is forgotten first; its branch and commits stay. */
export const addWorktree = async (git: Git, wanted: NewWorktree): Promise<AddedWorktree> => {
  const { repository, branch } = wanted;
  const path = resolve(wanted.path);
  if (!(await checkBranchName(git, branch))) {
    throw new ServiceError(
      'bad_request',
      `git does not take ${JSON.stringify(branch)} as the name of a branch.`,
    );
  }
  return git.turn(repository, async (now) => {
    const new_branch = await retried(() => add(now, { ...wanted, path }));
    const git_dir = await linkedDirectory(path);
    return { path, git_dir, common_dir: repository.common_dir, new_branch };
  });
};

// Mostly all is new, and git itself refuses what is not: only then somebody has to look why.
const add = async (git: GitAt, wanted: NewWorktree): Promise<boolean> => {
  const { branch, base } = wanted;
  if (isObject(base) && (await addNew(git, wanted))) return true;
  const [start, known] = await commitsOf(git, [base, `refs/heads/${branch}`]);
  if (start === undefined) {
    throw invalidState(`The repository has no branch or commit ${base} to start from.`);
  }
  await forgetDeleted(git, wanted);
  await addOn(git, wanted, known === undefined ? start : undefined);
  return known === undefined;
};

const addNew = async (git: GitAt, wanted: NewWorktree): Promise<boolean> => {
  try {
    await addOn(git, wanted, wanted.base);
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
};

// On a new branch from `start`, or without one on the branch as it is.
const addOn = async (
  git: GitAt,
  { path, branch, reason }: NewWorktree,
  start: string | undefined,
): Promise<void> => {
  const what =
    start === undefined ? ['--', path, branch] : ['--no-track', '-b', branch, '--', path, start];
  await git.run(['worktree', 'add', '--quiet', '--lock', '--reason', reason, ...what]);
};

// A gc that runs meanwhile takes the record of a worktree for a dead one in the moment before it is locked. git has
// undone its own part then, but for the branch.
const retried = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let left = 3; ; left--) {
    try {
      return await work();
    } catch (error) {
      const isPruned = error instanceof ServiceError && PRUNED.test(error.message);
      if (!isPruned || left === 0) throw error;
    }
  }
};

const PRUNED = /\/worktrees\/[^/]+\/\w+'?.*No such file or directory/;

const forgetDeleted = async (git: GitAt, { path, branch, reason }: NewWorktree): Promise<void> => {
  for (const entry of await listWorktrees(git)) {
    const ours = entry.path === path || (entry.branch === branch && entry.locked === reason);
    if (!ours || existsSync(entry.path)) continue;
    await git.run([...REMOVE, entry.path]);
  }
};

// Twice: the first is for what was looked at before, and for submodules, the second for our own lock.
const REMOVE = ['worktree', 'remove', '--force', '--force', '--'];

const linkedDirectory = async (path: string): Promise<string> => {
  const link = await readFile(join(path, '.git'), 'utf8');
  return realpath(link.replace(/^gitdir: /, '').trimEnd());
};

interface ListedWorktree {
  path: string;
  head: string | null;
  branch: string | null;
  bare: boolean;
  /** Why it is locked, perhaps an empty text; null when it is not. */
  locked: string | null;
  prunable: boolean;
}

/** All worktrees of a repository, the main one first. */
export const listWorktrees = async (git: GitAt): Promise<ListedWorktree[]> => {
  const listing = await git.text(['worktree', 'list', '--porcelain', '-z']);
  return listing.split('\0\0').filter(Boolean).map(parseListed);
};

const parseListed = (block: string): ListedWorktree => {
  const fields = new Map(
    block.split('\0').map((line): [string, string] => {
      const space = line.indexOf(' ');
      return space < 0 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
    }),
  );
  return {
    path: fields.get('worktree') ?? '',
    head: fields.get('HEAD') ?? null,
    branch: fields.get('branch')?.replace('refs/heads/', '') ?? null,
    bare: fields.has('bare'),
    locked: fields.get('locked') ?? null,
    prunable: fields.has('prunable'),
  };
};

interface Removal {
  force: boolean;
  /** Takes the directory away, whole. */
  takeAway: (path: string) => Promise<void>;
}

/**
 * Removes a worktree; its branch and commits stay. Without `force` one with uncommitted files, a rebase or checked
 * out submodules is refused (409 work_would_be_lost). One that was tampered with is refused in any case.
 */
export const removeLinkedWorktree = async (
  git: Git,
  worktree: GitWorktree,
  { force, takeAway }: Removal,
): Promise<void> => {
  await git.turn(worktree, async (now) => {
    if (existsSync(worktree.path)) {
      await refuseTampered(worktree);
      if (!force) await refuseLoss(now);
      await takeAway(worktree.path);
    }
    await removeEntries(worktree);
  });
};

const refuseTampered = async (worktree: GitWorktree): Promise<void> => {
  if (!(await isTampered(worktree))) return;
  throw new ServiceError(
    'worktree_tampered',
    `${join(worktree.path, '.git')} no longer names ${worktree.git_dir}. Look at what is there, then put the line "gitdir: ${worktree.git_dir}" back.`,
  );
};

const refuseLoss = async (git: GitAt<GitWorktree>): Promise<void> => {
  const { files, rebase_in_progress, has_submodules } = await status(git);
  const why = [
    files.length > 0 ? `${files.length} uncommitted files` : '',
    rebase_in_progress ? 'a rebase in progress' : '',
    has_submodules ? 'submodules that may hold work' : '',
  ].filter(Boolean);
  if (why.length === 0) return;
  throw new ServiceError(
    'work_would_be_lost',
    `The worktree has ${why.join(', ')}. Commit it, or remove it with force.`,
    {
      members: { files: files.slice(0, 100).map((file) => file.path) },
    },
  );
};

/** Where git notes that a worktree is; empty where it notes none. */
export const notedPlace = ({ git_dir }: GitWorktree): string => {
  const text = orElse(() => readFileSync(join(git_dir, 'gitdir'), 'utf8').trimEnd(), '');
  return text === '' ? '' : dirname(text);
};

/** Has git's record of a worktree name the place where it is now. */
export const repairWorktree = async (git: Git, worktree: GitWorktree): Promise<void> => {
  await git.turn(worktree, async (now) => {
    const main = now.at(repositoryOf(worktree));
    await main.run(['worktree', 'repair', worktree.path]);
  });
};

/** When something was last staged, committed or checked out in a worktree, in milliseconds; 0 where nothing tells. */
export const lastTouched = ({ git_dir }: Checkout): number =>
  Math.max(
    ...['index', 'HEAD', 'logs/HEAD'].map(
      (name) => statSync(join(git_dir, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    ),
  );

/** Whether the worktree's `.git` file, or git's own record of the worktree, no longer says what it said at first. */
export const isTampered = async (worktree: GitWorktree): Promise<boolean> => {
  const { path, git_dir, common_dir, turn_dir } = worktree;
  const link = join(path, '.git');
  const found = await unlessFault(lstat(link));
  if (git_dir === link) return found?.isDirectory() !== true;
  if (found?.isFile() !== true) return true;
  const target = /^gitdir: (.*?)\n*$/s.exec(await readFile(link, 'utf8'))?.[1];
  const read = (name: string) => unlessFault(readFile(join(git_dir, name), 'utf8'));
  const back = (await read('gitdir')) ?? '';
  const common = (await read('commondir')) ?? '.';
  const same = await Promise.all([
    isOneOf(resolve(path, target ?? ''), [git_dir, ...(turn_dir === undefined ? [] : [turn_dir])]),
    isSame(dirname(resolve(git_dir, back.trimEnd())), path),
    isSame(resolve(git_dir, common.trimEnd()), common_dir),
  ]);
  return same.includes(false);
};

const isOneOf = async (one: string, others: readonly string[]): Promise<boolean> =>
  (await Promise.all(others.map((other) => isSame(one, other)))).includes(true);

const isSame = async (one: string, other: string): Promise<boolean> => {
  const [a, b] = await Promise.all([one, other].map((path) => unlessFault(realpath(path))));
  return a !== undefined && a === b;
};
