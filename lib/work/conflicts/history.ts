import { listConflicts, type StoredConflict } from '../../../store/conflicts.ts';
import type { Conflict } from '../../../store/records/conflict.ts';
import type { Store } from '../../../store/store.ts';
import { orNotFound } from '../../errors.ts';

/** The rebases of a Work item as their records tell them, oldest first. Throws `unreadable_record`. */
export const conflictHistory = (store: Store, caseId: string): Conflict[] => {
  const all = orNotFound(listConflicts(store, caseId), 'Work item', caseId);
  return all.map((kept) => served(kept, store.machine));
};

const served = ({ case_id, matter, log }: StoredConflict, machine: string): Conflict => {
  const { id, outcome, step, branch, onto, onto_commit, orig_head, head } = matter;
  const { files, file_count, snapshot, set_aside, began_at, ended_at, pushed_at } = matter;
  return {
    ...{ id, case_id, timestamp: began_at, file_count, outcome, step },
    ...{ branch, onto, onto_commit, orig_head, head, files },
    snapshot_ref: snapshot?.ref ?? null,
    set_aside_ref: set_aside?.ref ?? null,
    ended_at,
    seconds: secondsOf(matter),
    pushed_at,
    ...(outcome === null && matter.machine !== machine && { elsewhere: true }),
    log,
  };
};

/** How long the conflicts lasted, from the first to the end; null for none, or while they last. */
export const secondsOf = ({
  conflicted_at,
  ended_at,
}: Pick<StoredConflict['matter'], 'conflicted_at' | 'ended_at'>): number | null =>
  conflicted_at === null || ended_at === null
    ? null
    : Math.max(0, Date.parse(ended_at) - Date.parse(conflicted_at)) / 1000;
