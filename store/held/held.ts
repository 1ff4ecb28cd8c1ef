import { sha256 } from '../base/sha256.ts';
import type { PlanningMatter } from '../records/planning.ts';
import type { SessionMatter } from '../records/session.ts';

/** A value that the operator's word stands behind, and which one in the file waits for that word. */
export interface GatedPart<T> {
  holds: T;
  /** The hash of what the file says, and when it was first seen to. */
  waits?: { sha: string; since: string };
  /** The hash of what the daemon is about to write: found after a crash, it is the daemon's own word. */
  next?: string;
}

/** What of a session holds: as the daemon wrote it last. */
export interface KeptParts {
  id: string;
  case_id: string;
  matter: GatedPart<SessionMatter>;
  /** Of plan.md; null where there is none. */
  plan: GatedPart<string | null>;
  /** Of comments.md; an older version kept none. */
  comments?: GatedPart<string | null>;
}

/** The texts of a session in which the operator's word stands: `NAME.md`. */
export type HeldText = 'plan' | 'comments';

export type Approved = NonNullable<PlanningMatter['approved']> | null;

export interface UnsandboxedRun {
  /** A directory that is this run's alone. */
  dir?: string;
  started_at: string;
}

/**
 * While a program lives that no sandbox holds, what a file says in the operator's place waits for the operator. What the
 * journal remembers of Work items holds of those; what holds of sessions and planning is kept here from the moment on
 * at which the first such program starts.
 */
export interface FileGate {
  /** The programs, by the marks of their runs; those of a former life until they are seen to be gone. */
  readonly runs: Map<string, UnsandboxedRun>;
  /** Sessions that have not ended, by the beginning of their ids. */
  readonly sessions: Map<string, KeptParts>;
  /** What is approved of the planning, by Work item. */
  readonly planning: Map<string, GatedPart<Approved>>;
}

export const createGate = (): FileGate => ({
  runs: new Map(),
  sessions: new Map(),
  planning: new Map(),
});

/** Whether what files say in the operator's place waits now. */
export const isGateShut = ({ runs }: FileGate): boolean => runs.size > 0;

/** What holds of a value that a file gives as `found`. */
export const inForceOf = <T>(gate: FileGate, part: GatedPart<T> | undefined, found: T): T => {
  if (part === undefined || part.next === orderlessHash(found)) return found;
  return isGateShut(gate) || part.waits?.sha === orderlessHash(found) ? part.holds : found;
};

/** Notes whether `found` waits, and answers it. Where nothing runs any more, only what has waited already does. */
export const settled = <T>(
  gate: FileGate,
  { holds, waits, next }: GatedPart<T>,
  found: T,
  at: Date,
): GatedPart<T> => {
  const sha = orderlessHash(found);
  const isOld = waits?.sha === sha;
  if (sha === next) return { holds: found };
  // What is about to be written is not written yet.
  if (sha === orderlessHash(holds)) return { holds, ...(next !== undefined && { next }) };
  if (isOld) return { holds, waits };
  return isGateShut(gate) ? { holds, waits: { sha, since: at.toISOString() } } : { holds: found };
};

/** What the daemon wrote itself holds; what others wrote into the same file before goes on waiting. */
export const written = <T>(
  gate: FileGate,
  { waits }: GatedPart<T>,
  { holds, found }: { holds: T; found: T },
  at: Date,
): GatedPart<T> => {
  const sha = orderlessHash(found);
  if (sha === orderlessHash(holds) || !(isGateShut(gate) || waits !== undefined)) return { holds };
  return { holds, waits: { sha, since: waits?.since ?? at.toISOString() } };
};

/** The same for values that say the same, in whatever order. */
export const orderlessHash = (value: unknown): string =>
  sha256(JSON.stringify(value, inOrder) ?? '');

const inOrder = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
