import { join } from 'node:path';
import type { Case } from '../../../../store/records/case.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { readyToWrite, type Store } from '../../../../store/store.ts';
import { inWorktreeTurn, whatIsAt, worktreesHome } from '../../../../store/worktrees/worktrees.ts';
import { ServiceError } from '../../../errors.ts';
import { needWorktree } from '../../../guard/trust/require.ts';
import { mergeBase } from '../../../tools/git/read/ancestry.ts';
import { chooseBase } from '../../../tools/git/read/base.ts';
import { findRepository, headCommit } from '../../../tools/git/read/repository.ts';
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
import { checkState } from '../inspect/status.ts';
import type { WorktreeNeeds } from '../needs.ts';
import { findWorktree, keepWorktree, requireNoWorktree, worktreeOfRepeatedCall } from '../read.ts';
import {
  beginWorktreeChange,
  endWorktreeChange,
  finishInterruptedChange,
} from '../recovery/changes.ts';
import { syncWorktree } from '../recovery/sync-work.ts';
import { newSetup, setUp } from '../setup/setup.ts';
import { branchFor, notIncluded } from './base-and-branch.ts';
import { lockReason, nameOf } from './names.ts';

interface Wanted {
  /** A branch that exists is checked out as it is. Default: the prefix of the settings and the Work item's name. */
  branch?: string;
  /** Default: `base_branch` of the settings, else the default branch. `current`: what is checked out. */
  base?: string;
}

/**
 * Makes the worktree of a Work item, and sets it up; a set-up that fails is told in its record. There is one: 409
 * `already_exists`; no repository: 422 `no_repository`.
 */
export const createWorktree = async (
  service: WorktreeNeeds,
  caseId: string,
  wanted: Wanted = {},
): Promise<WorktreeRecord> => {
  const item = await getItem(service.store, caseId);
  needWorktree(service.store);
  const record = await inWorktreeTurn(service.store, caseId, async () => {
    await finishInterruptedChange(service, caseId);
    const known = worktreeOfRepeatedCall(service.store, caseId);
    if (known !== undefined && known.branch === (wanted.branch ?? known.branch)) return known;
    requireNoWorktree(service.store, caseId);
    return make(service, item, wanted);
  });
  return record.setup?.status !== 'pending' ? record : setUp(service, caseId);
};

/**
 * The worktree of a Work item, made, but not set up, when there is none. Throws 409 `worktree_missing` or `worktree_tampered` when it is
 * not as it was made. A session calls it once it holds the session lock: then nobody removes the worktree.
 */
export const ensureWorktree = async (
  service: ProjectNeeds,
  caseId: string,
  wanted: Pick<Wanted, 'base'> = {},
): Promise<WorktreeRecord> => {
  const item = await getItem(service.store, caseId);
  return inWorktreeTurn(service.store, caseId, async () => {
    await finishInterruptedChange(service, caseId);
    const known = findWorktree(service.store, caseId);
    if (known === undefined) return make(service, item, wanted);
    await checkState(known);
    return known;
  });
};

/** True when nothing is left of a worktree that was made: neither its record nor what was at its place. */
export const isWorktreeLost = async (store: Store, caseId: string): Promise<boolean> => {
  if (findWorktree(store, caseId) !== undefined) return false;
  return whatIsAt(worktreePath(store, await getItem(store, caseId))) === 'nothing';
};

/** Where the Work item's worktree is made, by the settings of now. */
export const worktreePath = (store: Store, item: Case): string =>
  join(worktreesHome(store.layout, worktreeConfig(store).root), nameOf(item));

const make = async (service: ProjectNeeds, item: Case, wanted: Wanted): Promise<WorktreeRecord> => {
  const { store, git } = service;
  await readyToWrite(store);
  const repository = await repositoryFor(service, item.project);
  const { base_branch } = worktreeConfig(store);
  const base = await chooseBase(git.at(repository), wanted.base ?? base_branch ?? undefined);
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
  // In one that was there somebody may have been at work: nothing is run in it unasked.
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

/** Makes a worktree, whole and on disk. The note of it stays until its record is there, too. */
export const addWorktreeDurably = async (
  service: ProjectNeeds,
  case_id: string,
  planned: NewWorktree,
): Promise<AddedWorktree> => {
  const { store, git, config } = service;
  const { path, branch } = planned;
  const { common_dir } = planned.repository;
  await beginWorktreeChange(store, 'make', { case_id, path, branch, common_dir });
  try {
    const worktree = await addWorktree(git, planned);
    await syncWorktree({ store, git, config }, worktree, branch);
    return worktree;
  } catch (error) {
    // git has taken back what it made. What it met there is not the daemon's.
    await endWorktreeChange(store, case_id);
    throw error;
  }
};

/** The commit that a worktree's work begins at. Its branch may be older, and have left the base earlier. */
export const startOf = async (git: GitAt<GitWorktree>, base: string): Promise<string> => {
  const head = await headCommit(git);
  if (head === undefined || head === base) return base;
  return (await mergeBase(git, head, base)) ?? base;
};

/**
 * The worktree that was made for this Work item before, where only its record is lost: the daemon died between the two,
 * or `.dossier/` was deleted. Undefined when the place is free; anything else that is there is 409 `already_exists`.
 */
const adopt = async (git: Git, planned: NewWorktree): Promise<AddedWorktree | undefined> => {
  const { path, branch } = planned;
  if (whatIsAt(path) === 'nothing') return undefined;
  const found = (await isListed(git, planned)) ? await findRepository(git, path) : undefined;
  if (found !== undefined) {
    const { common_dir } = planned.repository;
    const worktree = { path, git_dir: found.git_dir, common_dir, new_branch: false };
    if (!(await isTampered(worktree))) return worktree;
  }
  throw new ServiceError(
    'already_exists',
    `${path} is there already and is not the Work item's worktree on ${branch}. Look at what it holds, move it away, then try again.`,
  );
};

// git keeps the reason that a worktree is locked for: this one's names the Work item.
const isListed = async (
  git: Git,
  { repository, path, branch, reason }: NewWorktree,
): Promise<boolean> =>
  (await listWorktrees(git.at(repository))).some(
    (entry) => entry.path === path && entry.branch === branch && entry.locked === reason,
  );
