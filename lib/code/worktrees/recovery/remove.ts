import { claimedWorktree, refreshClaims } from '../../../../store/pending/claimed-worktrees.ts';
import { mergedOf } from '../../../../store/reconcile/item.ts';
import { itemOf } from '../../../../store/reconcile/items.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { readyToWrite, type Store, type WithStore } from '../../../../store/store.ts';
import { dropWorktreeDirectory } from '../../../../store/worktrees/worktree-changes.ts';
import {
  forgetWorktree,
  pathKind,
  readWorktree,
  withWorktreeLock,
} from '../../../../store/worktrees/worktrees.ts';
import { notFound, ServiceError } from '../../../errors.ts';
import { isAncestor } from '../../../tools/git/read/repository.ts';
import {
  type GitAt,
  type GitWorktree,
  repositoryOf,
  type WithGit,
} from '../../../tools/git/run/git.ts';
import {
  lockOf,
  removeLinkedWorktree as removeFromGit,
} from '../../../tools/git/write/worktree.ts';
import { processesIn } from '../../../tools/process/processes.ts';
import { type Look, takePicture } from '../../snapshots/picture.ts';
import { lockReason } from '../create/names.ts';
import { lookIfMerged } from '../inspect/merged.ts';
import { adviceFor, stateOf } from '../inspect/status.ts';
import type { WithLeaving, WithSetups, WorktreeNeeds } from '../needs.ts';
import { getWorktree, requireUnlocked } from '../read.ts';
import { reclaimTurnLocked } from '../turn/reclaim.ts';
import { beginWorktreeChange, endWorktreeChange, finishInterruptedChange } from './changes.ts';
import {
  dropKeptWork,
  type KeptWork,
  keepCommits,
  keepPatch,
  keepWorktreeState,
} from './keep-work.ts';
import { findLoss, isNothing, type Loss, lossOfMissing, refuseLoss } from './loss.ts';
import { syncRepository } from './sync-work.ts';

interface Removal {
  force: boolean;
  /** Whether the current worktree is the one to remove. */
  isMeant?: (record: WorktreeRecord) => boolean;
}

/**
 * Removes the worktree of a Work item; its branch stays, and an attached directory is only detached. Throws what
 * `requireRemovable` throws. With `force`, work is saved first: under a ref, and as a patch beside the records.
 */
export const removeWorktree = (
  service: WorktreeNeeds,
  caseId: string,
  { force, isMeant = () => true }: Removal,
): Promise<void> =>
  withWorktreeLock(service.store, caseId, async () => {
    if (await dropForeignRecord(service.store, caseId)) return;
    await finishInterruptedChange(service, caseId);
    const record = getWorktree(service.store, caseId);
    if (!isMeant(record)) throw notFound('worktree as it was listed for Work item', caseId);
    await lookIfMerged(service, record).catch((error: unknown) =>
      service.log.warn({ err: error, case_id: caseId }, 'recording a merge in case.md failed'),
    );
    await remove(service, record, { force, patch: true });
  });

/**
 * Removes the worktree, if any, of a Work item that is about to be deleted. With `force` work is saved only under a ref,
 * because the records are deleted as well. Throws 409 while the worktree is in use and when work would be lost.
 */
export const removeForDeletedCase = (
  service: WorktreeNeeds,
  caseId: string,
  force: boolean,
): Promise<void> =>
  withWorktreeLock(service.store, caseId, async () => {
    requireUnlocked(service, caseId);
    if (await dropForeignRecord(service.store, caseId)) return;
    await finishInterruptedChange(service, caseId);
    const record = readWorktree(service.store, caseId);
    if (record !== undefined) await remove(service, record, { force, patch: false });
  });

// For a record that this machine did not write, only the record is removed.
const dropForeignRecord = async (store: Store, caseId: string): Promise<boolean> => {
  if (claimedWorktree(store.layout, caseId) === undefined) return false;
  await forgetWorktree(store, caseId);
  refreshClaims(store);
  return true;
};

const remove = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { force, patch }: { force: boolean; patch: boolean },
): Promise<void> => {
  const { store } = service;
  await readyToWrite(store);
  requireUnlocked(service, record.case_id);
  await reclaimTurnLocked(service, record.case_id);
  const { has, loss } = await requireRemovable(service, record, force);
  let kept: KeptWork | undefined;
  if (loss !== undefined && !isNothing(loss)) {
    if (has === 'directory') {
      kept = await keepAll(service, record, patch);
    } else if (loss.head !== null) await keepCommits(service, record, loss.head);
  }
  if (has === 'record') return forgetWorktree(store, record.case_id);
  await removeKept(service, record, { kept, force });
  await forgetWorktree(store, record.case_id);
  await endWorktreeChange(store, record.case_id);
};

const removeKept = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  { kept, force }: { kept: KeptWork | undefined; force: boolean },
): Promise<void> => {
  const { store, git } = service;
  let isBegun = false;
  const onBegin = (): void => {
    isBegun = true;
  };
  const takeAway = (now: GitAt<GitWorktree>): Promise<void> =>
    dropWorktreeDirectory(store, record.path, (path) =>
      refuseChanged(service, { ...record, path }, { now, kept: kept?.state, force }),
    );
  try {
    await syncRepository(service, record);
    await beginWorktreeChange(store, 'remove', record);
    await removeFromGit(git, record, { force, onBegin, takeAway });
  } catch (error) {
    const isThere = pathKind(record.path) === 'directory';
    if (isThere) await endWorktreeChange(store, record.case_id);
    // Once begun, only this error proves that all of it is back at its place.
    const isWhole = !isBegun || (error instanceof ServiceError && error.message === CHANGED);
    if (kept !== undefined && isThere && isWhole) await dropKeptWork(service, record, kept);
    throw error;
  }
};

const keepAll = async (
  service: WorktreeNeeds,
  record: WorktreeRecord,
  patch: boolean,
): Promise<KeptWork> => {
  const kept = await keepWorktreeState(service, record);
  if (!patch) return kept;
  try {
    return { ...kept, patch: await keepPatch(service, record, kept.ref) };
  } catch (error) {
    // Nothing is removed.
    await dropKeptWork(service, record, kept);
    throw error;
  }
};

// The operator may have written between the last look and the rename.
const refuseChanged = async (
  service: WithGit & WithStore,
  taken: WorktreeRecord,
  { now, kept, force }: { now: GitAt; kept: Look | undefined; force: boolean },
): Promise<void> => {
  const git = now.at(taken);
  if (kept === undefined) {
    const loss = await withoutMerged(service, taken, await findLoss(git));
    if (!force || isNothing(loss)) return refuseLoss(loss, false);
  } else {
    const look = await takePicture(git);
    if (COMPARED.every((part) => look[part] === kept[part])) return;
  }
  throw new ServiceError('worktree_busy', CHANGED);
};

const COMPARED = ['files', 'index', 'head', 'branch'] as const;

const CHANGED =
  'The worktree changed while it was being removed, so it was put back. Try again when no program writes in it.';

interface Removable {
  /** What can be removed: the directory with git's entry, only the entry, or only the daemon's record. */
  has: 'directory' | 'entry' | 'record';
  loss?: Loss;
}

/**
 * Throws 409 unless the worktree may be removed: `session_active`, `lock_held` and `worktree_busy` while it is in use,
 * `worktree_tampered` if the daemon did not create it, `work_would_be_lost` for uncommitted files and unpushed commits
 * unless `force`, and for a repository inside it in any case.
 */
export const requireRemovable = async (
  service: WithGit & WithLeaving & WithSetups & WithStore,
  record: WorktreeRecord,
  force: boolean,
): Promise<Removable> => {
  requireUnlocked(service, record.case_id);
  if (record.attached) return { has: 'record' };
  const state = await stateOf(record);
  // The last check before the deletion: git knows it as a linked worktree, locked for this Work item.
  const isOurs = state !== 'tampered' && (await lockOf(record)) === lockReason(record.case_id);
  if (state === 'missing' && !isOurs) return { has: 'record' };
  if (!isOurs) throw new ServiceError('worktree_tampered', adviceFor(record, 'tampered'));
  for (const leave of service.leaving) await leave(record.path);
  await refuseInhabited(record);
  const look = state === 'ok' ? findLoss : lossOfMissing;
  const loss = await withoutMerged(service, record, await look(service.git.at(record)));
  refuseLoss(loss, force);
  return { has: state === 'ok' ? 'directory' : 'entry', loss };
};

// A squash leaves the commits of a merged branch on no other branch.
const withoutMerged = async (
  { git, store }: WithGit & WithStore,
  record: WorktreeRecord,
  loss: Loss,
): Promise<Loss> => {
  const item = itemOf(store, record.case_id);
  const merged = item && mergedOf(item)?.commit;
  if (merged === undefined || loss.head === null) return loss;
  const isMerged =
    merged === loss.head || (await isAncestor(git.at(repositoryOf(record)), loss.head, merged));
  return isMerged ? { ...loss, commits: [] } : loss;
};

// Processes of a former daemon's run, or ones that escaped, may still use the directory.
const refuseInhabited = async ({ path }: WorktreeRecord): Promise<void> => {
  const found = await processesIn(path);
  if (found.length === 0) return;
  throw new ServiceError(
    'worktree_busy',
    `Processes of a session are running in the worktree: ${found.join(', ')}. Wait until they end, or stop them, then try again.`,
  );
};
