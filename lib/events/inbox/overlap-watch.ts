import { inSlices } from '../../../store/base/async.ts';
import { orElse } from '../../../store/base/attempt.ts';
import { groupBy } from '../../../store/base/group-by.ts';
import { caseStateOf } from '../../../store/reconcile/item.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type { State } from '../../../store/records/case.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { sessionsOrNone } from '../../../store/sessions/sessions.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { readWorktree, worktreeOwners } from '../../../store/worktrees/worktrees.ts';
import { lookIfMergedAndDeleted, recordMerged } from '../../code/worktrees/inspect/merged.ts';
import {
  createOverlapCache,
  type FinishedBranch,
  findOverlaps,
  finishedBranch,
  type Overlap,
  type OverlapCache,
} from '../../code/worktrees/inspect/overlaps.ts';
import type { WithLog } from '../../log.ts';
import type { WithGit } from '../../tools/git/run/git.ts';

type Given = WithGit & WithLog & WithStore;

/** The conflicts between the branches of finished Work items, computed in the background and kept in memory only. */
export interface OverlapWatch {
  /** Starts to look. */
  start(): void;
  /** The conflicts that are shown with this Work item: the one of the two that finished later. */
  of(caseId: string): readonly Overlap[];
  /** Looks again soon, if the Work item is finished or was. */
  changed(caseId: string): void;
  close(): Promise<void>;
}

const FINISHED: ReadonlySet<State> = new Set<State>(['VERIFYING', 'RESOLVED']);

const SOON_MS = 1000;
// A merge by the operator changes a branch without notice. Looking reads a few small files.
const LATER_MS = 60_000;
// The newest worktrees of finished Work items that are compared.
const MOST_BRANCHES = 100;

/** Calls `update` with the Work items whose conflicts changed. */
export const watchOverlaps = (
  serviceOf: () => Given,
  update: (caseId: string) => void,
): OverlapWatch => {
  const caches = new Map<string, OverlapCache>();
  const watched = new Set<string>();
  let found = new Map<string, Overlap[]>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isAskedAgain = false;
  let closed = false;
  const look = async (): Promise<void> => {
    const service = serviceOf();
    const branches = await finishedBranches(service);
    watched.clear();
    for (const { case_id } of branches) watched.add(case_id);
    const before = found;
    found = await overlapsOf(service, branches, caches);
    const ids = [...new Set([...before.keys(), ...found.keys()])];
    for (const id of closed ? [] : ids)
      if (JSON.stringify(before.get(id)) !== JSON.stringify(found.get(id))) update(id);
  };
  const schedule = (ms: number): void => {
    clearTimeout(timer);
    timer = closed ? undefined : setTimeout(lookAndPlan, ms).unref();
  };
  const lookAndPlan = (): void => {
    isAskedAgain = false;
    running = look()
      .catch((error: unknown) => serviceOf().log.debug({ err: error }, 'overlap check failed'))
      .finally(() => {
        running = undefined;
        schedule(isAskedAgain ? SOON_MS : LATER_MS);
      });
  };
  return {
    start: () => schedule(SOON_MS),
    of: (caseId) => found.get(caseId) ?? [],
    changed: (caseId) => {
      if (closed || (!watched.has(caseId) && !isFinished(serviceOf().store, caseId))) return;
      isAskedAgain = true;
      if (running === undefined) schedule(SOON_MS);
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
};

const isFinished = (store: Store, caseId: string): boolean => {
  const item = itemOf(store, caseId);
  return item !== undefined && FINISHED.has(caseStateOf(item));
};

// The one that finished last is last.
const finishedBranches = async (service: Given): Promise<FinishedBranch[]> => {
  const { git, store } = service;
  const records: WorktreeRecord[] = [];
  await inSlices(worktreeOwners(store.layout), (id) => {
    // An unreadable record is reported by other calls.
    const record = isFinished(store, id)
      ? orElse(() => readWorktree(store, id), undefined)
      : undefined;
    if (record !== undefined) records.push(record);
  });
  records.sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  const branches: FinishedBranch[] = [];
  for (const record of records.slice(-MOST_BRANCHES)) {
    const branch = await finishedBranch(git, record).catch(() => undefined);
    if (branch !== undefined) branches.push(branch);
    else await lookIfMergedAndDeleted(service, record).catch(() => undefined);
  }
  return branches
    .map((branch) => ({ branch, ended: endOf(store, branch.case_id) }))
    .toSorted((a, b) => (a.ended < b.ended ? -1 : 1))
    .map(({ branch }) => branch);
};

/** When the last session of a Work item ended; empty if none did. */
export const endOf = (store: Store, caseId: string): string =>
  sessionsOrNone(store, caseId)
    .map(({ session: { ended_at } }) => ended_at ?? '')
    .toSorted()
    .at(-1) ?? '';

// Also records which of the branches are merged.
const overlapsOf = async (
  given: Given,
  branches: readonly FinishedBranch[],
  caches: Map<string, OverlapCache>,
): Promise<Map<string, Overlap[]>> => {
  const groups = groupBy(branches, ({ common_dir }) => common_dir);
  for (const dir of caches.keys()) if (!groups.has(dir)) caches.delete(dir);
  const all: Overlap[] = [];
  for (const [dir, group] of groups) {
    const cache = caches.get(dir) ?? createOverlapCache();
    caches.set(dir, cache);
    const { overlaps, merged } = await findOverlaps(given.git, group, cache);
    all.push(...overlaps);
    for (const branch of group)
      await recordMerged(given, branch, merged.includes(branch)).catch(() => undefined);
  }
  return groupBy(all, ({ case_id }) => case_id);
};
