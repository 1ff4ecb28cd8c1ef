import {
  type Conflict,
  type ConflictFigures,
  type ConflictMetrics,
  OUTCOMES,
} from '../../../store/records/conflict.ts';
import {
  allConflicts,
  isOpenHere,
  listConflicts,
  type StoredConflict,
} from '../../../store/sessions/conflicts.ts';
import type { Store } from '../../../store/store.ts';
import { orNotFound } from '../../errors.ts';

/** The rebases of a Work item from their records, oldest first. Throws `unreadable_record`. */
export const conflictHistory = (store: Store, caseId: string): Conflict[] => {
  const all = orNotFound(listConflicts(store, caseId), 'Work item', caseId);
  return all.map((kept) => served(store, kept));
};

const served = (store: Store, kept: StoredConflict): Conflict => {
  const { case_id, matter, log } = kept;
  const { id, outcome, step, branch, onto, onto_commit, orig_head, head } = matter;
  const { files, file_count, snapshot, set_aside, began_at, ended_at, pushed_at } = matter;
  return {
    id,
    case_id,
    timestamp: began_at,
    file_count,
    outcome,
    step,
    branch,
    onto,
    onto_commit,
    orig_head,
    head,
    files,
    snapshot_ref: snapshot?.ref ?? null,
    set_aside_ref: set_aside?.ref ?? null,
    ended_at,
    seconds: secondsOf(matter),
    pushed_at,
    ...(outcome === null && !isOpenHere(store, kept) && { elsewhere: true }),
    log,
  };
};

/** Seconds from the first conflict to the end; null without conflicts, or while they last. */
const secondsOf = ({
  conflicted_at,
  ended_at,
}: Pick<StoredConflict['matter'], 'conflicted_at' | 'ended_at'>): number | null =>
  conflicted_at === null || ended_at === null
    ? null
    : Math.max(0, Date.parse(ended_at) - Date.parse(conflicted_at)) / 1000;

/** How often rebases conflict and for how long, for this Work item and for the workspace, from the records. */
export const conflictMetrics = async (store: Store, caseId: string): Promise<ConflictMetrics> => {
  const own = orNotFound(listConflicts(store, caseId), 'Work item', caseId);
  return { ...metricsOf(own), workspace: metricsOf(await allConflicts(store)) };
};

const metricsOf = (all: readonly Pick<StoredConflict, 'matter'>[]): ConflictFigures => {
  const met = all.filter(({ matter }) => matter.conflicted_at !== null);
  const resolved = met.filter(({ matter }) => matter.outcome === 'resolved');
  const seconds = resolved.map(({ matter }) => secondsOf(matter) ?? 0).toSorted((a, b) => a - b);
  const counts = [...OUTCOMES, 'open'].map((name) => {
    const ended = all.filter(({ matter }) => (matter.outcome ?? 'open') === name);
    return [name, ended.length];
  });
  return {
    rebases: all.length,
    conflicts: met.length,
    frequency: all.length === 0 ? null : met.length / all.length,
    files: met.reduce((sum, { matter }) => sum + matter.file_count, 0),
    outcomes: Object.fromEntries(counts) as ConflictFigures['outcomes'],
    seconds_to_resolution: { median: median(seconds), p95: percentile(seconds, 0.95) },
  };
};

const median = (sorted: readonly number[]): number | null => {
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) return null;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
};

// The smallest value that this share of the values does not exceed.
const percentile = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.ceil(sorted.length * share) - 1] ?? null;
