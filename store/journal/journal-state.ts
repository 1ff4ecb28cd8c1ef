import type { CaseMatter } from '../records/case.ts';
import type { EventBody, EventRecord } from '../records/event.ts';
import type { ChecklistEntry, ProofMatter } from '../records/proof.ts';
import type { JournalEnd } from './mark.ts';

/**
 * The form of what is compared of a Work item. Each state has its own, so that one of another release, also of an older one
 * that was at work in between, is compared in its own form: what that did not have is no news. Whoever compares other
 * values raises it, says in `store/reconcile/compare.ts` what the form before had not, and keeps a journal of it as a test.
 */
export const FORM = 1;

/** One Work item when its events were last told. With the file's hash the parsed front matter is known at start without parsing. */
export interface ToldState {
  /** See FORM. Releases that had none wrote none. */
  form?: number;
  dir: string;
  case: { sha: string; matter: CaseMatter; description: string };
  /** By proof id; `content` is the hash of the content. */
  proofs: Record<string, SeenProof>;
  checklist?: readonly ChecklistEntry[];
  /** RESOLVED, with its proof at some time: whatever was lost since. */
  proven?: true;
  /** Values in its files that do not hold until the operator says so, by where they stand. */
  held?: Record<string, Mark>;
}

interface SeenProof {
  sha: string;
  matter: ProofMatter;
  content: string;
  /** Of the file that it is about: what tells a change of it. */
  media?: string;
}

/** Which value waits, and since when. */
export interface Mark {
  sha: string;
  since: string;
  /** The verification that held of a proof before. */
  base?: Pick<ProofMatter, 'type' | 'verified' | 'verified_sha256'>;
}

export interface Gone {
  seen: ToldState;
  at: string;
}

export interface RunSeen {
  case_id: string;
  status: string;
  /** When it came to that. */
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

/** What the lines of a journal come to. */
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
/** For how long what is gone is remembered: it may come back. */
export const GONE_MS = 7 * 86_400_000;

const bury = (gone: State['gone'], { id, state }: NonNullable<JournalEntry['gone']>): void => {
  put(gone, id, state);
  const [oldest] = gone.keys();
  if (gone.size > MOST_GONE && oldest !== undefined) gone.delete(oldest);
};

export const dropOld = ({ gone }: State): void => {
  for (const [id, { at }] of gone) if (Date.now() - Date.parse(at) > GONE_MS) gone.delete(id);
};

// The state without events: those stay where they are.
export const linesOf = function* (state: State): Generator<string> {
  const encode = (line: Line): string => JSON.stringify(line);
  yield encode({ last: state.last, ...(state.epoch && { epoch: state.epoch }) });
  for (const [id, seen] of state.seen) yield encode({ seen: { id, state: seen } });
  for (const [id, gone] of state.gone) yield encode({ gone: { id, state: gone } });
  for (const [id, run] of state.runs) yield encode({ run: { id, state: run } });
  for (const [id, seq] of state.cursors) yield encode({ cursor: { id, seq } });
  for (const [id, told] of state.told) yield encode({ told: { id, state: told } });
  // Once more, should the beginning be damaged.
  yield encode({ last: state.last });
};

/** What the journal last saw of each Work item, read from its lines by whoever may not write. */
export const seenIn = (lines: readonly string[]): ReadonlyMap<string, ToldState> => {
  const state = emptyState();
  for (const line of lines) apply(state, JSON.parse(line) as Line);
  return state.seen;
};

/** Where a journal ends, read in the same way. */
export const endOf = (lines: readonly string[]): JournalEnd => {
  const state = emptyState();
  for (const line of lines) apply(state, JSON.parse(line) as Line);
  return state;
};
