import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type {
  Cleanup,
  CleanupWish,
  StaleWorktree,
} from '../../../../store/records/worktree-upkeep.ts';
import { isStale, staleWorktrees, whyItStays } from '../inspect/stale.ts';
import type { WorktreeNeeds } from '../needs.ts';
import { removeWorktree } from './remove.ts';

/**
 * Removes the stale worktrees, with `closed` also those of closed Work items, in which nothing would be lost; their
 * branches stay. The list is that of `staleWorktrees`, for a dry run too; each is looked at once more at the moment of
 * its removal. Never with force, never by a timer.
 */
export const cleanUp = async (
  service: WorktreeNeeds,
  { dry_run = false, closed = false, case_ids }: CleanupWish,
): Promise<Cleanup> => {
  const wanted = case_ids === undefined ? undefined : new Set(case_ids);
  const { stale, unreadable } = await staleWorktrees(service, {
    isWanted: (id) => wanted?.has(id) ?? true,
    closed,
  });
  const result: Cleanup = { dry_run, removed: [], skipped: unreadable };
  for (const worktree of stale) {
    const { case_id, path, branch } = worktree;
    const refusal = dry_run ? refusalOf(worktree) : await remove(service, worktree, closed);
    if (refusal === undefined) result.removed.push({ case_id, path, branch });
    else result.skipped.push({ case_id, ...refusal });
  }
  const known = new Set([...result.removed, ...result.skipped].map(({ case_id }) => case_id));
  const others = [...(wanted ?? [])].filter((id) => !known.has(id));
  result.skipped.push(...others.map((case_id) => ({ case_id, ...NOT_STALE })));
  return result;
};

const NOT_STALE = { code: 'not_stale', reason: 'It has no worktree that is stale.' };

type Refusal = { code: string; reason: string };

const refusalOf = ({ removable, code = '', reason = '' }: StaleWorktree): Refusal | undefined =>
  removable ? undefined : { code, reason };

const remove = async (
  service: WorktreeNeeds,
  worktree: StaleWorktree,
  closed: boolean,
): Promise<Refusal | undefined> => {
  if (!worktree.removable) return refusalOf(worktree);
  try {
    // One that was made, attached or used at this moment is another.
    const isMeant = (record: WorktreeRecord) =>
      record.created_at === worktree.created_at && isStale(service, record, closed);
    await removeWorktree(service, worktree.case_id, { force: false, isMeant });
    return undefined;
  } catch (error) {
    return whyItStays(error);
  }
};
