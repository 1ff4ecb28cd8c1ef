import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../../../store/base/attempt.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { ServiceError } from '../../../errors.ts';
import { counted, someOf } from '../../../text/wording.ts';
import { refusedFiles } from '../../../tools/git/read/diff.ts';
import { MOST_STORED } from '../../../tools/git/read/large-files.ts';
import { headCommit } from '../../../tools/git/read/repository.ts';
import { type FileStatus, wholeStatus } from '../../../tools/git/read/status.ts';
import { findSubmoduleWork, type SubmoduleWork } from '../../../tools/git/read/submodules.ts';
import type { GitAt } from '../../../tools/git/run/git.ts';

/** The work that would be lost with a worktree. */
export interface Loss {
  /** HEAD; null without a commit. */
  head: string | null;
  files: string[];
  /** Commits on no remote branch and no other local branch, newest first, at most 1000. */
  commits: string[];
  /** Other reasons: a rebase in progress, checked-out submodules. */
  others: string[];
  /** What git can neither read nor keep, and so neither a patch nor a ref. */
  unsaved: string[];
  /** Changed files that are too large to be saved. */
  large: string[];
  /** Repositories inside the worktree, whose content neither a patch nor a ref can save. */
  repositories: NestedRepository[];
}

/** An untracked repository, or a submodule with work, also one that is not checked out. */
interface NestedRepository {
  path: string;
  /** A description of its work, if known. */
  holds?: string;
}

/** Finds the work that would be lost with an intact worktree. */
export const findLoss = async (git: GitAt<WorktreeRecord>): Promise<Loss> => {
  const record = git.place;
  const { head, branch, files, rebase_in_progress, has_submodules, unread } =
    await wholeStatus(git);
  const inside = files.filter((file) => isNested(record, file));
  const isUntracked = files.some(({ code }) => code === '??');
  return {
    head,
    unsaved: [...unread, ...(isUntracked ? await refusedFiles(git, record.base_commit) : [])],
    files: files.map(({ path }) => path),
    commits: await onlyHere(git, record, { head, current: branch }),
    others: [
      ...(rebase_in_progress ? ['a rebase in progress'] : []),
      ...(has_submodules ? ['submodules'] : []),
    ],
    large: files.filter((file) => isTooLarge(record, file)).map(({ path }) => path),
    repositories: [
      ...inside.map(({ path }) => ({ path })),
      ...(await findSubmoduleWork(git, record.base_commit)).map(withWork),
    ],
  };
};

// Untracked, or in the place of a tracked file, which git then lists as deleted or of another type.
const isNested = (
  { path: root }: WorktreeRecord,
  { repository, code, path }: FileStatus,
): boolean =>
  code === '??' ? repository : /^.[DT]$/.test(code) && existsSync(join(root, path, '.git'));

/** The same for a worktree whose directory is missing: only commits and submodules can be checked. */
export const lossOfMissing = async ({ at, place }: GitAt<WorktreeRecord>): Promise<Loss> => {
  const { git_dir, common_dir, base_commit } = place;
  const git = at({ git_dir, common_dir });
  const head = (await headCommit(git)) ?? null;
  const commits = await onlyHere(git, place, { head, current: null });
  const repositories = (await findSubmoduleWork(git, base_commit)).map(withWork);
  return { head, commits, files: [], others: [], large: [], unsaved: [], repositories };
};

// A deleted file has no size, and that of a directory is small.
const isTooLarge = ({ path: root }: WorktreeRecord, { path }: FileStatus): boolean =>
  orElse(() => lstatSync(join(root, path)).size >= MOST_STORED, false);

const withWork = ({ path, files, commits, readable }: SubmoduleWork): NestedRepository => {
  const work = [...ifAny(files, 'uncommitted file'), ...ifAny(commits, 'unpushed commit')];
  return { path, holds: readable ? work.join(', ') : 'git cannot read it' };
};

interface Tips {
  head: string | null;
  current: string | null;
}

// The worktree's branch is kept, but a commit that only this branch has was neither pushed nor merged.
const onlyHere = async (
  git: GitAt,
  { branch, base_commit }: WorktreeRecord,
  { head, current }: Tips,
): Promise<string[]> => {
  const own = [...new Set([branch, ...(current === null ? [] : [current])])];
  const tips = [...(head === null ? [] : [head]), ...own.map((name) => `refs/heads/${name}`)];
  const elsewhere = ['--remotes', ...own.map((name) => `--exclude=${name}`), '--branches'];
  const args = ['rev-list', '--max-count=1000', '--ignore-missing', ...tips];
  return git.lines([...args, '--not', ...elsewhere, base_commit, '--']);
};

export const isNothing = ({ files, commits, others }: Loss): boolean =>
  files.length + commits.length + others.length === 0;

/** Throws 409 `work_would_be_lost`: without `force` for any loss, with it only for work that cannot be saved. */
export const refuseLoss = (loss: Loss, force: boolean): void => {
  const { files, commits, large, repositories, unsaved } = loss;
  if (repositories.length > 0) {
    const named = repositories.map(({ path, holds }) => (holds ? `${path} (${holds})` : path));
    throw new ServiceError(
      'work_would_be_lost',
      `The worktree contains other repositories: ${named.join(', ')}. Their content cannot be saved, even with force. Commit and push in submodules, and move other repositories, and files of submodules that are not checked out, to another place. Then try again.`,
      { members: { files: repositories.map(({ path }) => path) } },
    );
  }
  if (large.length > 0) throw tooLarge(large);
  if (unsaved.length > 0)
    throw new ServiceError(
      'work_would_be_lost',
      `The worktree has files that git cannot read, or whose names it refuses: ${someOf(unsaved)}. They cannot be saved, even with force: rename them, make them readable or move them out, then try again.`,
      { members: { files: unsaved.slice(0, 100) } },
    );
  if (force || isNothing(loss)) return;
  throw new ServiceError(
    'work_would_be_lost',
    `The worktree has ${wording(loss)}. Commit and push or merge it; or remove it with force (dossier worktrees rm ITEM --force, or ?force=true), which first saves files and commits under a ref in refs/dossier/recovered/.`,
    { members: { files: files.slice(0, 100), commits: commits.slice(0, 100) } },
  );
};

const tooLarge = (files: readonly string[]): ServiceError =>
  new ServiceError(
    'work_would_be_lost',
    `The worktree has changed files of 2 GiB or more: ${files.slice(0, 5).join(', ')}. They cannot be saved, even with force: delete them or move them out, then try again.`,
    { members: { files: files.slice(0, 100) } },
  );

const wording = ({ files, commits, others }: Loss): string =>
  [
    ...ifAny(files.length, 'uncommitted file'),
    ...ifAny(commits.length, 'unpushed commit'),
    ...others,
  ].join(', ');

const ifAny = (count: number, what: string): string[] =>
  count === 0 ? [] : [counted(count, what)];
