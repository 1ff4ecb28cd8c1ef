import type { CaseMatter } from '../records/case.ts';
import type { EventBody, EventRecord } from '../records/event.ts';
import type { ChecklistEntry, ProofMatter } from '../records/proof.ts';
import type { JournalEnd } from './mark.ts';

/**
 * The version of the values that are compared for a Work item. Each state carries its own, so that a state of another
 * release is compared in its form, and values unknown to that release make no events. To compare other values: increase it,
 * list the new values in `store/reconcile/compare.ts`, and add a journal of the old form as a test.
 */
export const FORM = 1;

/** A Work item as of its last events. The file hash saves parsing an unchanged file at the start. */
export interface ToldState {
  /** See FORM; absent in journals of older releases. */
  form?: number;
  dir: string;
  case: { sha: string; matter: CaseMatter; description: string };
  /** By proof id; `content` is the hash of the content. */
  proofs: Record<string, SeenProof>;
  checklist?: readonly ChecklistEntry[];
  /** RESOLVED, and its proof gate was satisfied at some time. */
  proven?: true;
  /** What the operator had decided about its proof before the last work ended: that does not resolve it. */
  decided?: readonly string[];
  /** What it had decided about proof or lines that are gone. The end of work adds it to `decided`: git can bring them back. */
  lost?: readonly string[];
  /** Values in its files that await the operator's confirmation, by location. */
  held?: Record<string, Mark>;
}

interface SeenProof {
  sha: string;
  matter: ProofMatter;
  content: string;
  /** A signature of the attached file. */
  media?: string;
}

/** A value that awaits confirmation, and since when. */
export interface Mark {
  sha: string;
  since: string;
  /** The confirmed verification of a proof. */
  base?: Pick<ProofMatter, 'type' | 'verified' | 'verified_sha256'>;
}

export interface Gone {
  seen: ToldState;
  at: string;
}

export interface RunSeen {
  case_id: string;
  status: string;
  /** When the session reached the status. */
  since?: string;
}

export interface JournalEntry {
  seen?: { id: string; state: ToldState | null };
  gone?: { id: string; state: Gone | null };
  run?: { id: string; state: RunSeen | null };
  cursor?: { id: string; seq: number | null };
  told?: { id: string; state: unknown };
  events?: EventBody[];
}

/** A line of the journal. */
export interface Line extends Omit<JournalEntry, 'events'> {
  events?: EventRecord[];
  last?: number;
  /** Names the journal; see JournalMark. */
  epoch?: string;
}

/** The state after all lines of a journal. */
export interface State extends JournalEnd {
  seen: Map<string, ToldState>;
  gone: Map<string, Gone>;
  runs: Map<string, RunSeen>;
  cursors: Map<string, number>;
  told: Map<string, unknown>;
}

export const emptyState = (): State => ({
  seen: new Map(),
  gone: new Map(),
  runs: new Map(),
  cursors: new Map(),
  told: new Map(),
  last: 0,
});

export const apply = (state: State, line: Line): void => {
  if (line.seen !== undefined) put(state.seen, line.seen.id, line.seen.state);
  if (line.gone !== undefined) bury(state.gone, line.gone);
  if (line.run !== undefined) put(state.runs, line.run.id, line.run.state);
  if (line.cursor !== undefined) put(state.cursors, line.cursor.id, line.cursor.seq);
  if (line.epoch !== undefined) state.epoch = line.epoch;
  if (line.told !== undefined) put(state.told, line.told.id, line.told.state);
  const least = Math.max(state.last, line.last ?? 0, line.cursor?.seq ?? 0);
  state.last = line.events?.at(-1)?.seq ?? least;
};

const put = <T>(map: Map<string, T>, id: string, value: T | null): void => {
  if (value === null) map.delete(id);
  else map.set(id, value);
};

const MOST_GONE = 20_000;
/** How long a removed Work item is remembered, in milliseconds, in case it is restored. */
export const GONE_MS = 7 * 86_400_000;

const bury = (gone: State['gone'], { id, state }: NonNullable<JournalEntry['gone']>): void => {
  put(gone, id, state);
  const [oldest] = gone.keys();
  if (gone.size > MOST_GONE && oldest !== undefined) gone.delete(oldest);
};

export const dropOld = ({ gone }: State): void => {
  for (const [id, { at }] of gone) if (Date.now() - Date.parse(at) > GONE_MS) gone.delete(id);
};

// The state without events, which stay in their files.
export const linesOf = function* (state: State): Generator<string> {
  const encode = (line: Line): string => JSON.stringify(line);
  yield encode({ last: state.last, ...(state.epoch && { epoch: state.epoch }) });
  for (const [id, seen] of state.seen) yield encode({ seen: { id, state: seen } });
  for (const [id, gone] of state.gone) yield encode({ gone: { id, state: gone } });
  for (const [id, run] of state.runs) yield encode({ run: { id, state: run } });
  for (const [id, seq] of state.cursors) yield encode({ cursor: { id, seq } });
  for (const [id, told] of state.told) yield encode({ told: { id, state: told } });
  // Repeated at the end, in case the start is damaged.
  yield encode({ last: state.last });
};

/** The state after the lines of a journal. */
export const stateAfter = (lines: readonly string[]): State => {
  const state = emptyState();
  for (const line of lines) apply(state, JSON.parse(line) as Line);
  return state;
};
