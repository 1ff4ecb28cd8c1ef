import { existsSync, readFileSync, statSync } from 'node:fs';
import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { orElse, undefinedUnlessDiskFault } from '../../../../store/base/attempt.ts';
import { modifiedAt } from '../../../../store/base/modified-at.ts';
import { badField, invalidState, ServiceError } from '../../../errors.ts';
import { isObject } from '../read/refs.ts';
import { checkBranchName, commitOf, commitsOf } from '../read/repository.ts';
import { wholeStatus } from '../read/status.ts';
import { isRefusal } from '../run/error.ts';
import { type Checkout, type Git, type GitAt, type GitWorktree, repositoryOf } from '../run/git.ts';
import { pointedTo } from '../run/plain-file.ts';
import { removeEntries } from './worktree-entry.ts';

export interface NewWorktree {
  repository: Checkout;
  path: string;
  branch: string;
  /** Where a new branch starts; a branch that exists is checked out as it is. */
  base: string;
  /** The reason of the lock: `git worktree prune` skips locked worktrees. */
  reason: string;
}

export interface AddedWorktree extends GitWorktree {
  /** The branch was created with the worktree, at the base. */
  new_branch: boolean;
}

/**
 * Creates a locked worktree on `branch`. First removes git's record of a worktree at this path or of this branch whose
 * directory was deleted by hand; its branch and commits stay.
 */
export const addWorktree = async (git: Git, wanted: NewWorktree): Promise<AddedWorktree> => {
  const { repository, branch } = wanted;
  const path = resolve(wanted.path);
  if (!(await checkBranchName(git, branch)))
    throw badField(
      '/branch',
      'is not a valid branch name',
      `${JSON.stringify(branch)} is not a valid branch name. Use another name.`,
    );
  return git.turn(repository, async (now) => {
    const known = await commitOf(now, `refs/heads/${branch}`);
    const new_branch = await retried(() => add(now, { ...wanted, path })).catch(async (error) => {
      if (known === undefined && isRefusal(error)) await dropNewBranch(now, wanted);
      throw error;
    });
    const git_dir = await linkedDirectory(path);
    return { path, git_dir, common_dir: repository.common_dir, new_branch };
  });
};

// Usually path and branch are new. Only if git refuses, look for the cause.
const add = async (git: GitAt, wanted: NewWorktree): Promise<boolean> => {
  const { branch, base } = wanted;
  if (isObject(base) && (await addNew(git, wanted))) return true;
  const [start, known] = await commitsOf(git, [base, `refs/heads/${branch}`]);
  if (start === undefined) {
    throw invalidState(`The repository has no branch or commit ${base}. Name another base.`);
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

// With `start` creates the branch there, else checks out the existing branch.
const addOn = async (
  git: GitAt,
  { path, branch, reason }: NewWorktree,
  start: string | undefined,
): Promise<void> => {
  const what =
    start === undefined ? ['--', path, branch] : ['--no-track', '-b', branch, '--', path, start];
  await git.run(['worktree', 'add', '--quiet', '--lock', '--reason', reason, ...what]);
};

// A concurrent gc may prune the record of a worktree just before it is locked. git then undoes everything but the branch, so
// retry.
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

// The first --force allows changes and submodules, the second removes a locked worktree.
const REMOVE = ['worktree', 'remove', '--force', '--force', '--'];

// git removes what it created of a worktree that it refuses, such as for an invalid path, but leaves the new branch.
const dropNewBranch = async (git: GitAt, { branch, base }: NewWorktree): Promise<void> => {
  const ref = `refs/heads/${branch}`;
  const [start, tip] = await commitsOf(git, [base, ref]);
  if (tip === undefined || tip !== start) return;
  // What was refused is reported; the branch is at its base, and may stay.
  await git.run(['update-ref', '-d', ref, tip]).catch(() => undefined);
};

const linkedDirectory = async (path: string): Promise<string> => {
  const link = await readFile(join(path, '.git'), 'utf8');
  return realpath(link.replace(/^gitdir: /, '').trimEnd());
};

export interface ListedWorktree {
  path: string;
  head: string | null;
  branch: string | null;
  bare: boolean;
  /** The reason of the lock, possibly empty; null if it is not locked. */
  locked: string | null;
  prunable: boolean;
}

/** Lists the worktrees of a repository, the main one first. */
export const listWorktrees = async (git: GitAt): Promise<ListedWorktree[]> =>
  parseWorktrees(await git.text([...LIST_WORKTREES]));

export const LIST_WORKTREES: readonly string[] = ['worktree', 'list', '--porcelain', '-z'];

/** The worktrees in the output of `LIST_WORKTREES`. */
export const parseWorktrees = (listing: string): ListedWorktree[] =>
  listing.split('\0\0').filter(Boolean).map(parseListed);

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
  /** Called once nothing refuses the removal, before anything is moved or removed. */
  onBegin?: () => void;
  /** Removes the whole directory; gets git under the lock of the repository. */
  takeAway: (git: GitAt<GitWorktree>) => Promise<void>;
}

/**
 * Removes a worktree; its branch and commits stay. Without `force`, throws 409 work_would_be_lost for one with uncommitted
 * files, a rebase in progress or submodules. Always refuses a worktree whose `.git` was changed.
 */
export const removeLinkedWorktree = async (
  git: Git,
  worktree: GitWorktree,
  { force, onBegin, takeAway }: Removal,
): Promise<void> => {
  await git.turn(worktree, async (now) => {
    const isThere = existsSync(worktree.path);
    if (isThere) await refuseTampered(worktree);
    if (isThere && !force) await refuseLoss(now);
    onBegin?.();
    if (isThere) await takeAway(now);
    await removeEntries(worktree);
  });
};

const refuseTampered = async (worktree: GitWorktree): Promise<void> => {
  if (!(await isTampered(worktree))) return;
  throw new ServiceError(
    'worktree_tampered',
    `${join(worktree.path, '.git')} no longer names ${worktree.git_dir}. Check it, then restore the line "gitdir: ${worktree.git_dir}".`,
  );
};

const refuseLoss = async (git: GitAt<GitWorktree>): Promise<void> => {
  const { files, rebase_in_progress, has_submodules } = await wholeStatus(git);
  const why = [
    files.length > 0 ? `${files.length} uncommitted files` : '',
    rebase_in_progress ? 'a rebase in progress' : '',
    has_submodules ? 'submodules that may contain work' : '',
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

/** The path of a worktree in git's record; empty without one. */
export const notedPlace = ({ git_dir }: GitWorktree): string => {
  const text = orElse(() => readFileSync(join(git_dir, 'gitdir'), 'utf8').trimEnd(), '');
  return text === '' ? '' : dirname(text);
};

/** Updates git's record of a worktree to its current path. */
export const repairWorktree = async (git: Git, worktree: GitWorktree): Promise<void> => {
  await git.turn(worktree, async (now) => {
    const main = now.at(repositoryOf(worktree));
    await main.run(['worktree', 'repair', worktree.path]);
  });
};

/** When the index, HEAD or its log last changed, in milliseconds since the epoch; 0 if unknown. */
export const lastTouched = ({ git_dir }: Checkout): number =>
  Math.max(
    ...['index', 'HEAD', 'logs/HEAD'].map((name) => {
      const stats = statSync(join(git_dir, name), { throwIfNoEntry: false });
      return stats === undefined ? 0 : modifiedAt(stats);
    }),
  );

/** Whether the worktree's `.git` file, or git's record of the worktree, was changed since it was created. */
export const isTampered = async (worktree: GitWorktree): Promise<boolean> => {
  const { path, git_dir, common_dir, turn_dir } = worktree;
  const link = join(path, '.git');
  const found = await undefinedUnlessDiskFault(lstat(link));
  if (git_dir === link) return found?.isDirectory() !== true;
  if (found?.isFile() !== true) return true;
  const target = pointedTo(await readFile(link, 'utf8'));
  const back = (await noted(worktree, 'gitdir')) ?? '';
  const common = (await noted(worktree, 'commondir')) ?? '.';
  const same = await Promise.all([
    isOneOf(resolve(path, target ?? ''), [git_dir, ...(turn_dir === undefined ? [] : [turn_dir])]),
    isSame(dirname(resolve(git_dir, back.trimEnd())), path),
    isSame(resolve(git_dir, common.trimEnd()), common_dir),
  ]);
  return same.includes(false);
};

/**
 * The reason of the lock of a linked worktree, as the files of its repository say; undefined if they name another place, or
 * it is not locked. Read without git, which leaves out of its list what it cannot read.
 */
export const lockOf = async (worktree: GitWorktree): Promise<string | undefined> => {
  const { path, git_dir, common_dir } = worktree;
  if (!(await isSame(dirname(git_dir), join(common_dir, 'worktrees')))) return undefined;
  const back = (await noted(worktree, 'gitdir'))?.trimEnd();
  if (back === undefined || dirname(resolve(git_dir, back)) !== path) return undefined;
  return (await noted(worktree, 'locked'))?.trimEnd();
};

const noted = ({ git_dir }: GitWorktree, name: string): Promise<string | undefined> =>
  undefinedUnlessDiskFault(readFile(join(git_dir, name), 'utf8'));

const isOneOf = async (one: string, others: readonly string[]): Promise<boolean> =>
  (await Promise.all(others.map((other) => isSame(one, other)))).includes(true);

const isSame = async (one: string, other: string): Promise<boolean> => {
  const [a, b] = await Promise.all(
    [one, other].map((path) => undefinedUnlessDiskFault(realpath(path))),
  );
  return a !== undefined && a === b;
};
