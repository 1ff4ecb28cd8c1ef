import { allConflicts, listConflicts, type StoredConflict } from '../../../store/conflicts.ts';
import { OUTCOMES } from '../../../store/records/conflict.ts';
import type { Store } from '../../../store/store.ts';
import { orNotFound } from '../../errors.ts';
import { secondsOf } from './history.ts';

type Outcome = (typeof OUTCOMES)[number] | 'open';

interface ConflictMetrics {
  rebases: number;
  /** Rebases that met a conflict, and their share of all; null where there was none. */
  conflicts: number;
  frequency: number | null;
  files: number;
  outcomes: Record<Outcome, number>;
  /** From the first conflict to the end, of those that were resolved, in seconds. */
  seconds_to_resolution: { median: number | null; p95: number | null };
}

/** How often rebases conflict and how long that lasts: of this Work item and of all, from their records alone. */
export const conflictMetrics = async (
  store: Store,
  caseId: string,
): Promise<ConflictMetrics & { workspace: ConflictMetrics }> => {
  const own = orNotFound(listConflicts(store, caseId), 'Work item', caseId);
  return { ...metricsOf(own), workspace: metricsOf(await allConflicts(store)) };
};

const metricsOf = (all: readonly Pick<StoredConflict, 'matter'>[]): ConflictMetrics => {
  const met = all.filter(({ matter }) => matter.conflicted_at !== null);
  const resolved = met.filter(({ matter }) => matter.outcome === 'resolved');
  const seconds = resolved.map(({ matter }) => secondsOf(matter) ?? 0).toSorted((a, b) => a - b);
  const outcomes = Object.fromEntries([...OUTCOMES, 'open'].map((name) => [name, 0]));
  for (const { matter } of all)
    outcomes[matter.outcome ?? 'open'] = of(outcomes, matter.outcome) + 1;
  return {
    rebases: all.length,
    conflicts: met.length,
    frequency: all.length === 0 ? null : met.length / all.length,
    files: met.reduce((sum, { matter }) => sum + matter.file_count, 0),
    outcomes: outcomes as Record<Outcome, number>,
    seconds_to_resolution: { median: median(seconds), p95: percentile(seconds, 0.95) },
  };
};

const of = (outcomes: Record<string, number>, outcome: string | null): number =>
  outcomes[outcome ?? 'open'] ?? 0;

const median = (sorted: readonly number[]): number | null => {
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) return null;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
};

// The smallest that so many of them do not exceed.
const percentile = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.ceil(sorted.length * share) - 1] ?? null;
