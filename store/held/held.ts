import { trustHash } from '../consent/seal.ts';
import type { PlanningMatter } from '../records/planning.ts';
import type { SessionMatter } from '../records/session.ts';

/** A value that the operator confirmed, and the one in the file that awaits confirmation, if any. */
export interface GatedPart<T> {
  holds: T;
  /** The hash of the value in the file, and when it was first seen. */
  waits?: { sha: string; since: string };
  /** The hash of the value that the daemon is about to write, so that it is accepted after a crash. */
  next?: string;
}

/** The values of a session that are in force: as the daemon wrote them last. */
export interface KeptParts {
  id: string;
  case_id: string;
  matter: GatedPart<SessionMatter>;
  /** The hash of plan.md; null if there is none. */
  plan: GatedPart<string | null>;
  /** The hash of comments.md; absent in records of older releases. */
  comments?: GatedPart<string | null>;
}

/** The texts of a session that speak for the operator, without `.md`. */
export type HeldText = 'plan' | 'comments';

export type Approved = NonNullable<PlanningMatter['approved']> | null;

export interface UnsandboxedRun {
  /** A directory of this run only. */
  dir?: string;
  started_at: string;
}

/**
 * While a program runs without a sandbox, values in files that speak for the operator await the operator's confirmation. For
 * Work items, the journal has the values in force; those of sessions and planning are kept here from the start of the first
 * such program.
 */
export const createGate = () => ({
  /** The runs, by marker; those of an earlier daemon stay until they have ended. */
  runs: new Map<string, UnsandboxedRun>(),
  /** Sessions that have not ended, by short id. */
  sessions: new Map<string, KeptParts>(),
  /** The approved parts of the planning, by Work item. */
  planning: new Map<string, GatedPart<Approved>>(),
});
export type FileGate = Readonly<ReturnType<typeof createGate>>;

/** Whether values in files must await confirmation now. */
export const isGateShut = ({ runs }: FileGate): boolean => runs.size > 0;

/** The value in force, if the file has `found`. */
export const inForceOf = <T>(gate: FileGate, part: GatedPart<T> | undefined, found: T): T => {
  if (part === undefined || part.next === trustHash(found)) return found;
  return isGateShut(gate) || part.waits?.sha === trustHash(found) ? part.holds : found;
};

/** The new state of a part after its file was read as `found`. Once the gate is open, only values that already wait do. */
export const settled = <T>(
  gate: FileGate,
  { holds, waits, next }: GatedPart<T>,
  found: T,
  at: Date,
): GatedPart<T> => {
  const sha = trustHash(found);
  const isOld = waits?.sha === sha;
  if (sha === next) return { holds: found };
  // The daemon's next value is not written yet.
  if (sha === trustHash(holds)) return { holds, ...(next !== undefined && { next }) };
  if (isOld) return { holds, waits };
  return isGateShut(gate) ? { holds, waits: { sha, since: at.toISOString() } } : { holds: found };
};

/** The state of a part after the daemon wrote it: its value is in force, and an edit already in the file still waits. */
export const written = <T>(
  gate: FileGate,
  { waits }: GatedPart<T>,
  { holds, found }: { holds: T; found: T },
  at: Date,
): GatedPart<T> => {
  const sha = trustHash(found);
  if (sha === trustHash(holds) || !(isGateShut(gate) || waits !== undefined)) return { holds };
  return { holds, waits: { sha, since: waits?.since ?? at.toISOString() } };
};
