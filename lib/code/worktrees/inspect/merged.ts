import { orElse } from '../../../../store/base/attempt.ts';
import { updateCase } from '../../../../store/cases/cases.ts';
import { readPull } from '../../../../store/codehost/pulls.ts';
import { caseOf, mergedOf } from '../../../../store/reconcile/item.ts';
import { itemOf } from '../../../../store/reconcile/items.ts';
import type { Merged } from '../../../../store/records/case.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { allSessionsOf } from '../../../../store/sessions/sessions.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { readAnyWorktree } from '../../../../store/worktrees/worktrees.ts';
import { branchCommit } from '../../../tools/git/read/base.ts';
import { commitOf, isAncestor } from '../../../tools/git/read/repository.ts';
import { repositoryOf, type WithGit } from '../../../tools/git/run/git.ts';
import { latin1 } from '../../../tools/git/run/path-text.ts';
import { readRefLog } from '../../../tools/git/write/ref-log.ts';
import {
  createOverlapCache,
  type FinishedBranch,
  findOverlaps,
  finishedBranch,
} from './overlaps.ts';

/**
 * Notes in case.md whether the branch of a Work item is merged: into its base in the repository, or by its pull request, as
 * the host last reported. A branch that was only moved to a commit of its base is not.
 */
export const recordMerged = async (
  { git, store }: WithGit & WithStore,
  branch: FinishedBranch,
  isInBase: boolean,
): Promise<void> => {
  const { case_id, base, commit } = branch;
  // An unreadable record is reported by other calls.
  const pull = orElse(() => readPull(store, case_id), undefined);
  const { merged_at, head_sha, pushed_commit, base_ref: into = base } = pull?.matter ?? {};
  const isHere = isInBase && (await isOwnCommit(store, branch));
  const isOfPull = async (head: string): Promise<boolean> => {
    if (head === commit) return true;
    // The record may have been copied from another Work item.
    if (pull?.matter.head_ref !== branch.branch) return false;
    // A rebase onto the merge leaves nothing of the branch.
    if (isInBase && !isHere) return true;
    // Others may have pushed more before the merge, or something else instead.
    if (pushed_commit !== commit) return false;
    const at = git.at(repositoryOf(branch));
    return (await isAncestor(at, commit, head)) || (await commitOf(at, head)) === undefined;
  };
  const isByPull = merged_at != null && head_sha != null && (await isOfPull(head_sha));
  const byPull = isByPull ? { into, commit: head_sha } : undefined;
  await noteMerged(store, case_id, byPull ?? (isHere ? { into: base, commit } : undefined));
};

const isOwnCommit = async (store: Store, branch: FinishedBranch): Promise<boolean> => {
  const { case_id, branch: name, commit } = branch;
  if (commitsOf(store, case_id).includes(commit)) return true;
  const moves = await readRefLog(repositoryOf(branch), latin1(`refs/heads/${name}`));
  return moves.some(
    ({ to, message }) => to === commit && !MOVED.test(message) && !message.endsWith(`onto ${to}`),
  );
};

/** The commits of a Work item's sessions, oldest first. */
const commitsOf = (store: Store, caseId: string): string[] =>
  (allSessionsOf(store, caseId) ?? []).flatMap(({ session }) => session.commit?.id ?? []);

// How git's log of a branch says that it was moved to a commit that was not made on it.
const MOVED = /^(?:branch: |reset: |fetch|dossier: restored|(?:merge|pull) .*: Fast-forward)/;

/** The same for one worktree, by what its repository says now. */
export const lookIfMerged = async (
  { git, store }: WithGit & WithStore,
  record: WorktreeRecord,
): Promise<void> => {
  const branch = await finishedBranch(git, record);
  if (branch === undefined) return;
  const { merged } = await findOverlaps(git, [branch], createOverlapCache());
  await recordMerged({ git, store }, branch, merged.length > 0);
};

/** The same where the branch was deleted: by the last commit of the sessions, which the base has after a merge. */
export const lookIfMergedAndDeleted = async (
  { git, store }: WithGit & WithStore,
  record: WorktreeRecord,
): Promise<void> => {
  const { case_id, branch, base: into } = record;
  const commit = commitsOf(store, case_id).at(-1);
  const item = itemOf(store, case_id);
  if (commit === undefined || item === undefined || mergedOf(item) !== undefined) return;
  const at = git.at(repositoryOf(record));
  if ((await commitOf(at, `refs/heads/${branch}`)) !== undefined) return;
  const tip = await branchCommit(at, into);
  if (tip !== undefined && (await isAncestor(at, commit, tip)))
    await noteMerged(store, case_id, { into, commit });
};

/**
 * Notes that the Work item's pull request was merged, unless that is of another branch: pr/pr.md may have been copied from
 * another Work item.
 */
export const noteMergedPull = async (
  store: Store,
  caseId: string,
  { head_ref, ...found }: Found & { head_ref: string },
): Promise<void> => {
  const branches = branchesOf(store, caseId);
  if (branches.length === 0 || branches.includes(head_ref)) await noteMerged(store, caseId, found);
};

/** The branches that the Work item's pull request may be of: the worktree's, else those of its sessions. */
export const branchesOf = (store: Store, caseId: string): readonly string[] => {
  const worktree = readAnyWorktree(store.layout, caseId);
  if (worktree !== undefined) return [worktree.record.branch];
  return (allSessionsOf(store, caseId) ?? []).flatMap(({ session: { branch } }) => branch ?? []);
};

type Found = Pick<Merged, 'into' | 'commit'>;

/** Writes `merged` into case.md; undefined: not merged. Writes only a change. */
const noteMerged = async (
  store: Store,
  caseId: string,
  found: Found | undefined,
): Promise<void> => {
  const item = itemOf(store, caseId);
  const known = item && mergedOf(item);
  if (item === undefined || isSame(known, found)) return;
  // In a file of an older version the key may be the operator's.
  if (known === undefined && caseOf(item).matter.merged != null) return;
  const merged = found && { ...found, at: store.clock().toISOString() };
  await updateCase(store, caseId, (now) => (isSame(now.merged, found) ? undefined : { merged }));
};

const isSame = (known: Merged | undefined, found: Found | undefined): boolean =>
  known?.commit === found?.commit && known?.into === found?.into;
