import { orElse } from '../../../../store/base/attempt.ts';
import { updateCase } from '../../../../store/cases/cases.ts';
import { readPull } from '../../../../store/codehost/pulls.ts';
import { caseOf, recordOf } from '../../../../store/reconcile/item.ts';
import { itemOf } from '../../../../store/reconcile/items.ts';
import type { Merged } from '../../../../store/records/case.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import {
  createOverlapCache,
  type FinishedBranch,
  findOverlaps,
  finishedBranch,
} from './overlaps.ts';

/**
 * Notes in case.md whether the branch of a Work item is merged: into its base in the repository, or by its pull request, as
 * the host last reported.
 */
export const recordMerged = async (
  store: Store,
  { case_id, base, commit }: FinishedBranch,
  isInBase: boolean,
): Promise<void> => {
  // An unreadable record is reported by other calls.
  const pull = orElse(() => readPull(store, case_id), undefined);
  const { merged_at, head_sha, base_ref = base } = pull?.matter ?? {};
  const isByPull = merged_at != null && head_sha === commit;
  const found = isInBase ? { into: base, commit } : { into: base_ref, commit };
  await noteMerged(store, case_id, isInBase || isByPull ? found : undefined);
};

/** The same for one worktree, by what its repository says now. */
export const lookIfMerged = async (
  { git, store }: WithGit & WithStore,
  record: WorktreeRecord,
): Promise<void> => {
  const branch = await finishedBranch(git, record);
  if (branch === undefined) return;
  const { merged } = await findOverlaps(git, [branch], createOverlapCache());
  await recordMerged(store, branch, merged.length > 0);
};

type Found = Pick<Merged, 'into' | 'commit'>;

/** Writes `merged` into case.md; undefined: not merged. Writes only a change. */
export const noteMerged = async (
  store: Store,
  caseId: string,
  found: Found | undefined,
): Promise<void> => {
  const item = itemOf(store, caseId);
  if (item === undefined || isSame(recordOf(item).merged, found)) return;
  // In a file of an older version the key may be the operator's.
  const isTheirs = caseOf(item).matter.merged != null && recordOf(item).merged === undefined;
  if (isTheirs) return;
  const merged = found && { ...found, at: store.clock().toISOString() };
  await updateCase(store, caseId, (now) => (isSame(now.merged, found) ? undefined : { merged }));
};

const isSame = (known: Merged | undefined, found: Found | undefined): boolean =>
  known?.commit === found?.commit && known?.into === found?.into;
