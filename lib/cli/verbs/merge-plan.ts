import type { Case, Worktree } from '../../client/client.ts';
import { caseIdOfLockReason } from '../../code/worktrees/create/names.ts';
import { counted } from '../../text/wording.ts';
import { operationInProgress } from '../../tools/git/write/commit.ts';
import {
  LIST_WORKTREES,
  type ListedWorktree,
  parseWorktrees,
} from '../../tools/git/write/worktree.ts';
import { Refusal } from '../args/refusal.ts';
import { branchWord, commitOf, type OwnGit, ownGit, refOf } from './own-git.ts';

/** How a branch is merged. */
export interface Merge {
  /** The checkout that has the base, or else the main one of the repository. */
  checkout: OwnGit;
  onto: string;
  /** The command that rebases the branch in its worktree. */
  rebase: string;
  steps: string[][];
  /** Warnings to print before. */
  notes: string[];
  /** Why the commands cannot be run now. */
  refused: string | undefined;
  squash: boolean;
}

interface Wanted {
  title: string;
  env: NodeJS.ProcessEnv;
  squash: boolean;
  merged: Case['merged'];
}

/** How the branch of a worktree is merged into its base. Throws a Refusal if it cannot be merged. */
export const mergeOf = async (
  worktree: Worktree,
  { title, env, squash, merged }: Wanted,
): Promise<Merge> => {
  const { path, branch, base, case_id } = worktree;
  const there = ownGit(path, env);
  const listed = parseWorktrees((await there.read(...LIST_WORKTREES)) ?? '');
  const [main] = listed;
  if (main === undefined) throw new Refusal(`Its worktree is missing: git finds none at ${path}`);
  const onto = await branchFor(ownGit(main.path, env), base);
  if (onto === undefined)
    throw new Refusal(`Its base ${base} is not a branch here. Merge ${branch} by hand`);
  const checkout = ownGit(checkoutOf(listed, main, onto), env);
  const left = await uncommitted(there);
  const notes = left === 0 ? [] : [`${counted(left, 'uncommitted file')} in ${path}: not merged`];
  const nothing = await whyNothing(checkout, { branch, onto, merged });
  if (nothing !== undefined) throw new Refusal([nothing, ...notes].join('. '));
  const word = await branchWord(checkout, branch);
  const steps = squash
    ? [
        ['merge', '--squash', word],
        ['commit', '-m', title, '-m', `Dossier-Case: ${case_id}`],
      ]
    : [['merge', '--no-edit', word]];
  const rebase = there.typed('rebase', await branchWord(checkout, onto));
  return { checkout, onto, rebase, steps, notes, squash, refused: await refusal(checkout, onto) };
};

// A linked worktree may have the base: then it cannot be checked out in the main one, and a bare repository has no other.
const checkoutOf = (
  listed: readonly ListedWorktree[],
  main: ListedWorktree,
  onto: string,
): string => {
  const holder = listed.find(({ branch, prunable }) => branch === onto && !prunable);
  if (holder !== undefined && caseIdOfLockReason(holder.locked ?? '') !== undefined)
    throw new Refusal(
      `${onto} is checked out in ${holder.path}, the worktree of another Work item, so nothing was merged. Merge by hand there while no session uses it`,
    );
  if (holder !== undefined || !main.bare) return (holder ?? main).path;
  throw new Refusal(
    `${main.path} is a bare repository, and no worktree has ${onto} checked out, so nothing was merged. Create one first with git worktree add`,
  );
};

const whyNothing = async (
  checkout: OwnGit,
  { branch, onto, merged }: Pick<Wanted, 'merged'> & { branch: string; onto: string },
): Promise<string | undefined> => {
  const tip = await commitOf(checkout, refOf(branch));
  if (tip === undefined) return `Nothing to merge: there is no branch ${branch}`;
  const range = `${refOf(onto)}..${refOf(branch)}`;
  const commits = await checkout.read('rev-list', '--count', range);
  if (commits === undefined)
    return `git rev-list failed in ${checkout.directory}, so nothing was merged. Run it to see why: ${checkout.typed('rev-list', '--count', range)}`;
  if (commits === '0') return `Nothing to merge: ${branch} has no commits beyond ${onto}`;
  if (merged === undefined) return undefined;
  // After a squash, git does not know that.
  if (tip !== merged.commit) return undefined;
  return `Nothing to merge: ${onto} has all changes of ${branch}`;
};

// For a remote-tracking base, the local branch of the same name.
const branchFor = async (checkout: OwnGit, base: string): Promise<string | undefined> => {
  for (const name of [base, base.replace(/^[^/]+\//, '')])
    if ((await commitOf(checkout, refOf(name))) !== undefined) return name;
  return undefined;
};

/** Why nothing can be merged in this checkout now, or undefined. */
export const refusal = async (checkout: OwnGit, onto: string): Promise<string | undefined> => {
  const { directory } = checkout;
  const at = await checkout.read('symbolic-ref', '--quiet', 'HEAD');
  if (at !== refOf(onto)) {
    const name = at?.replace('refs/heads/', '') ?? 'no branch';
    const words = onto.startsWith('-') ? ['--', onto] : [onto];
    return `${directory} has ${name} checked out, not ${onto}, so nothing was merged. Run ${checkout.typed('switch', ...words)} first`;
  }
  const git_dir = await checkout.read('rev-parse', '--absolute-git-dir');
  if (git_dir === undefined) return `git rev-parse failed in ${directory}, so nothing was merged`;
  // Its result may equal HEAD, where git status lists no file.
  const busy = operationInProgress({ git_dir }, ['BISECT_LOG']);
  if (busy !== undefined) return `Nothing was merged in ${directory}: ${busy}`;
  const left = await uncommitted(checkout, '--untracked-files=no');
  if (left > 0)
    return `${counted(left, 'uncommitted file')} in ${directory}, so nothing was merged. Commit or stash them first`;
  return undefined;
};

export const uncommitted = async (git: OwnGit, ...more: string[]): Promise<number> => {
  const said = await git.read('status', '--porcelain', ...more);
  if (said === undefined) throw new Refusal(`git status failed in ${git.directory}`);
  return said.split('\n').filter(Boolean).length;
};
