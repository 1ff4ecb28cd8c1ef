import { join } from 'node:path';
import type { Case } from '../../../../store/records/case.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { readyToWrite, type Store } from '../../../../store/store.ts';
import {
  pathKind,
  readWorktree,
  withWorktreeLock,
  worktreesHome,
} from '../../../../store/worktrees/worktrees.ts';
import { ServiceError } from '../../../errors.ts';
import { requireTrustedWorktreeSettings } from '../../../guard/trust/require.ts';
import { chooseBase } from '../../../tools/git/read/base.ts';
import { findRepository, headCommit, mergeBase } from '../../../tools/git/read/repository.ts';
import { isRefusal } from '../../../tools/git/run/error.ts';
import type { Git, GitAt, GitWorktree } from '../../../tools/git/run/git.ts';
import {
  type AddedWorktree,
  addWorktree,
  isTampered,
  listWorktrees,
  type NewWorktree,
} from '../../../tools/git/write/worktree.ts';
import { getItem, type ProjectNeeds, repositoryFor } from '../../projects/project.ts';
import { worktreeConfig } from '../config.ts';
import { repairMovedWorktree } from '../inspect/repair-moved.ts';
import { checkState } from '../inspect/status.ts';
import type { WorktreeNeeds } from '../needs.ts';
import { keepWorktree, requireNoWorktree, worktreeOfRepeatedCall } from '../read.ts';
import {
  beginWorktreeChange,
  endWorktreeChange,
  finishInterruptedChange,
} from '../recovery/changes.ts';
import { syncWorktree } from '../recovery/sync-work.ts';
import { newSetup, setUp } from '../setup/setup.ts';
import { branchFor, configuredBase, notIncluded } from './base-and-branch.ts';
import { lockReason, nameOf } from './names.ts';

interface NewWorktreeOptions {
  /** An existing branch is checked out as it is. Default: by `branch_template` of the settings. */
  branch?: string;
  /** Default: `base_branch` of the settings, else the default branch. `current` is the branch that is checked out. */
  base?: string;
}

/**
 * Creates the worktree of a Work item and sets it up; a failed setup is noted in its record. Throws 409
 * `already_exists` if there is one, 422 `no_repository` without a repository.
 */
export const createWorktree = async (
  service: WorktreeNeeds,
  caseId: string,
  wanted: NewWorktreeOptions = {},
): Promise<WorktreeRecord> => {
  const item = await getItem(service.store, caseId);
  requireTrustedWorktreeSettings(service.store);
  const record = await withWorktreeLock(service.store, caseId, async () => {
    await finishInterruptedChange(service, caseId);
    const known = worktreeOfRepeatedCall(service.store, caseId);
    if (known !== undefined && known.branch === (wanted.branch ?? known.branch)) return known;
    requireNoWorktree(service.store, caseId);
    return make(service, item, wanted);
  });
  return record.setup?.status !== 'pending' ? record : setUp(service, caseId);
};

/**
 * Returns the worktree of a Work item; creates it without setup if there is none. Throws 409 `worktree_missing` or
 * `worktree_tampered`. A session calls this while it holds the session lock, so that the worktree cannot be removed.
 */
export const ensureWorktree = async (
  service: ProjectNeeds,
  caseId: string,
  wanted: Pick<NewWorktreeOptions, 'base'> = {},
): Promise<WorktreeRecord> => {
  const item = await getItem(service.store, caseId);
  return withWorktreeLock(service.store, caseId, async () => {
    await finishInterruptedChange(service, caseId);
    const known = readWorktree(service.store, caseId);
    if (known === undefined) return make(service, item, wanted);
    // The original of a copied workspace may be gone since this daemon started.
    await repairMovedWorktree(service, known);
    await checkState(known);
    return known;
  });
};

/** Whether neither the record of the worktree nor anything at its path exists any more. */
export const isWorktreeGone = async (store: Store, caseId: string): Promise<boolean> => {
  if (readWorktree(store, caseId) !== undefined) return false;
  return pathKind(worktreePath(store, await getItem(store, caseId))) === 'nothing';
};

/**
 * Throws 409 `worktree_missing` if the directory of the recorded worktree is gone. One that is at the place of the current
 * settings, as in a copied workspace, is repaired when it is used.
 */
export const refuseMissing = async (store: Store, caseId: string): Promise<void> => {
  const record = readWorktree(store, caseId);
  if (record === undefined || pathKind(record.path) !== 'nothing') return;
  if (pathKind(worktreePath(store, await getItem(store, caseId))) === 'nothing')
    await checkState(record);
};

/** The path of the Work item's worktree by the current settings. */
export const worktreePath = (store: Store, item: Case): string =>
  join(worktreesHome(store.layout, worktreeConfig(store).root), nameOf(item));

const make = async (
  service: ProjectNeeds,
  item: Case,
  wanted: NewWorktreeOptions,
): Promise<WorktreeRecord> => {
  const { store, git } = service;
  await readyToWrite(store);
  const repository = await repositoryFor(service, item.project);
  const base = await chooseBase(git.at(repository), wanted.base ?? configuredBase(store));
  const planned: NewWorktree = {
    repository,
    path: worktreePath(store, item),
    branch: wanted.branch ?? (await branchFor(service, item)),
    base: base.commit,
    reason: lockReason(item.id),
  };
  const adopted = await adopt(git, planned);
  const [worktree, left] = await Promise.all([
    adopted ?? addWorktreeDurably(service, item.id, planned),
    notIncluded(service, repository),
  ]);
  const base_notes = worktree.new_branch ? [...base.notes, ...left] : [];
  // An adopted worktree may hold work: run no setup in it unasked.
  const setup = adopted === undefined ? newSetup(store) : undefined;
  const record: WorktreeRecord = {
    case_id: item.id,
    path: worktree.path,
    branch: planned.branch,
    base: base.name,
    base_commit: worktree.new_branch ? base.commit : await startOf(git.at(worktree), base.commit),
    ...(base_notes.length > 0 && { base_notes }),
    attached: false,
    created_at: store.clock().toISOString(),
    repository: repository.root,
    git_dir: worktree.git_dir,
    common_dir: worktree.common_dir,
    ...(setup !== undefined && { setup }),
  };
  await keepWorktree(store, record);
  await endWorktreeChange(store, item.id);
  return record;
};

/** Adds a worktree and syncs it to disk. The change record stays until the caller has saved the worktree's record. */
export const addWorktreeDurably = async (
  service: ProjectNeeds,
  case_id: string,
  planned: NewWorktree,
): Promise<AddedWorktree> => {
  const { store, git } = service;
  const { path, branch } = planned;
  const { common_dir } = planned.repository;
  await beginWorktreeChange(store, 'make', { case_id, path, branch, common_dir });
  try {
    const worktree = await addWorktree(git, planned);
    await syncWorktree(service, worktree, branch);
    return worktree;
  } catch (error) {
    // git removed what it had created. Anything else at the path does not belong to the daemon.
    await endWorktreeChange(store, case_id);
    throw namingBranch(error, branch);
  }
};

// git keeps branches as files: where work is one, there is no directory for work/….
const namingBranch = (error: unknown, branch: string): unknown => {
  if (!isRefusal(error)) return error;
  const [, other] = /'refs\/heads\/([^']+)' exists/.exec((error as ServiceError).message) ?? [];
  if (other === undefined) return error;
  return new ServiceError(
    'git_failed',
    `git cannot create the branch ${branch} while the branch ${other} exists. Rename ${other}, or change worktrees.branch_prefix in workspace.md, then try again.`,
    { cause: error },
  );
};

/** The commit that the worktree's own commits start from: the merge base, because its branch may be older than the base. */
export const startOf = async (git: GitAt<GitWorktree>, base: string): Promise<string> => {
  const head = await headCommit(git);
  if (head === undefined || head === base) return base;
  return (await mergeBase(git, head, base)) ?? base;
};

/**
 * Finds the Work item's worktree when only its record is lost, because the daemon died before writing it or `.dossier/`
 * was deleted. Undefined if the path is free; throws 409 `already_exists` if something else is there.
 */
const adopt = async (git: Git, planned: NewWorktree): Promise<AddedWorktree | undefined> => {
  const { path, branch } = planned;
  if (pathKind(path) === 'nothing') return undefined;
  const found = (await isListed(git, planned)) ? await findRepository(git, path) : undefined;
  if (found !== undefined) {
    const { common_dir } = planned.repository;
    const worktree = { path, git_dir: found.git_dir, common_dir, new_branch: false };
    if (!(await isTampered(worktree))) return worktree;
  }
  throw new ServiceError(
    'already_exists',
    `${path} exists and is not the Work item's worktree on ${branch}. Move it away, then try again.`,
  );
};

// The lock reason that git stores names the Work item.
const isListed = async (
  git: Git,
  { repository, path, branch, reason }: NewWorktree,
): Promise<boolean> =>
  (await listWorktrees(git.at(repository))).some(
    (entry) => entry.path === path && entry.branch === branch && entry.locked === reason,
  );
