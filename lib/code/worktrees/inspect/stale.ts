import { isDiskFault, messageOf } from '../../../../store/base/attempt.ts';
import { matchesFilter } from '../../../../store/cases/case-filter.ts';
import { itemOf } from '../../../../store/reconcile/items.ts';
import { CLOSED_STATES } from '../../../../store/records/case.ts';
import { isEnded } from '../../../../store/records/session.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type {
  Cleanup,
  CleanupWish,
  StaleWorktree,
} from '../../../../store/records/worktree-upkeep.ts';
import { listHeldLocks } from '../../../../store/sessions/locks.ts';
import { sessionsOf } from '../../../../store/sessions/sessions.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import {
  readWorktree,
  withWorktreeLock,
  worktreeRecords,
} from '../../../../store/worktrees/worktrees.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { lastTouched } from '../../../tools/git/write/worktree.ts';
import { worktreeConfig } from '../config.ts';
import type { WithLeaving, WithSetups, WorktreeNeeds } from '../needs.ts';
import { removeWorktree, requireRemovable } from '../recovery/remove.ts';
import { stateOf } from './status.ts';

interface StaleList {
  stale: StaleWorktree[];
  /** Work items with an unreadable worktree record, or with a session that a disk fault hides. */
  unreadable: Cleanup['skipped'];
}

interface StaleFilter {
  /** Default: all Work items. */
  isWanted?: (caseId: string) => boolean;
  /** Include worktrees of closed Work items, even if used recently. */
  closed?: boolean;
}

/**
 * Lists worktrees that were not used for longer than `ttl_hours`, longest idle first, and whether each can be removed.
 * The listing, the dry run and the cleanup use this one list. A worktree with an unfinished session is not stale.
 */
export const staleWorktrees = async (
  service: WithGit & WithLeaving & WithSetups & WithStore,
  { isWanted = () => true, closed = false }: StaleFilter = {},
): Promise<StaleList> => {
  const list: StaleList = { stale: [], unreadable: [] };
  for (const { case_id, record, problem = '' } of worktreeRecords(service.store)) {
    if (!isWanted(case_id)) continue;
    if (record === undefined)
      list.unreadable.push({ case_id, code: 'unreadable_record', reason: problem });
    else
      await ifStale(service, record, closed).then(
        (found) => list.stale.push(...found),
        (error: unknown) => {
          if (!isDiskFault(error)) throw error;
          list.unreadable.push({ case_id, ...refusalFrom(error) });
        },
      );
  }
  list.stale.sort((a, b) => b.idle_hours - a.idle_hours);
  return list;
};

const HOUR_MS = 3_600_000;

// A worktree that is being removed looks tampered: check such a result again under the lock of the worktree.
const ifStale = async (
  service: WithGit & WithLeaving & WithSetups & WithStore,
  record: WorktreeRecord,
  closed: boolean,
): Promise<StaleWorktree[]> => {
  const { store } = service;
  const found = await describeIfStale(service, record, closed);
  if (found.every(({ code }) => code === undefined || SURE.has(code))) return found;
  return withWorktreeLock(store, record.case_id, async () => {
    const now = readWorktree(store, record.case_id);
    return now === undefined ? [] : describeIfStale(service, now, closed);
  });
};

const SURE: ReadonlySet<string> = new Set(['attached', 'work_would_be_lost', 'worktree_busy']);

const describeIfStale = async (
  service: WithGit & WithLeaving & WithSetups & WithStore,
  record: WorktreeRecord,
  closed: boolean,
): Promise<StaleWorktree[]> => {
  if (!isStale(service, record, closed)) return [];
  const { case_id, path, branch, attached, created_at } = record;
  const last = lastUse(service.store, record);
  return [
    {
      case_id,
      path,
      branch,
      attached,
      created_at,
      status: await stateOf(record),
      last_used_at: new Date(last).toISOString(),
      idle_hours: Math.round((idleMs(service.store, last) / HOUR_MS) * 10) / 10,
      ...(await removability(service, record)),
    },
  ];
};

/** Whether a worktree is unused and was idle for longer than `ttl_hours`, or, with `closed`, its Work item is closed. */
const isStale = (
  service: WithSetups & WithStore,
  record: WorktreeRecord,
  closed: boolean,
): boolean => {
  if (isInUse(service, record.case_id)) return false;
  if (closed && isOfClosed(service.store, record.case_id)) return true;
  const idle = idleMs(service.store, lastUse(service.store, record));
  return idle > worktreeConfig(service.store).ttl_hours * HOUR_MS;
};

const isOfClosed = (store: Store, caseId: string): boolean => {
  const item = itemOf(store, caseId);
  return item !== undefined && CLOSED_STATES.some((state) => matchesFilter(item, { state }));
};

const idleMs = (store: Store, last: number): number => Math.max(0, store.clock().getTime() - last);

const isInUse = ({ store, setups }: WithSetups & WithStore, caseId: string): boolean =>
  setups.running.has(caseId) ||
  listHeldLocks(store, caseId).length > 0 ||
  (sessionsOf(store, caseId) ?? []).some(
    ({ session: { status, elsewhere } }) => !isEnded(status) && elsewhere !== true,
  );

const lastUse = (store: Store, record: WorktreeRecord): number => {
  const ends = (sessionsOf(store, record.case_id) ?? []).map(
    ({ session: { ended_at, created_at } }) => Date.parse(ended_at ?? created_at),
  );
  return Math.max(Date.parse(record.created_at), ...ends, lastTouched(record));
};

const removability = async (
  service: WithGit & WithLeaving & WithSetups & WithStore,
  record: WorktreeRecord,
): Promise<Pick<StaleWorktree, 'removable' | 'code' | 'reason'>> => {
  if (record.attached) return { removable: false, code: 'attached', reason: ATTACHED };
  try {
    await requireRemovable(service, record, false);
    return { removable: true };
  } catch (error) {
    return { removable: false, ...refusalFrom(error) };
  }
};

const ATTACHED = 'It is your directory. Detach it with DELETE /api/cases/…/worktree.';

/** The code and the reason why a worktree was not removed. */
const refusalFrom = (error: unknown): { code: string; reason: string } => ({
  code: error instanceof Error && 'code' in error ? String(error.code) : 'internal',
  reason: messageOf(error),
});

/**
 * Removes the stale worktrees whose removal loses no work; with `closed` also those of closed Work items. Branches stay.
 * Uses the list of `staleWorktrees`, and checks each again before its removal. Never forces and never runs on a timer.
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

const NOT_STALE = { code: 'not_stale', reason: 'The Work item has no stale worktree.' };

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
    // Skip a worktree that was replaced or used since it was listed.
    const isMeant = (record: WorktreeRecord) =>
      record.created_at === worktree.created_at && isStale(service, record, closed);
    await removeWorktree(service, worktree.case_id, { force: false, isMeant });
    return undefined;
  } catch (error) {
    return refusalFrom(error);
  }
};
