import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { CaseMatter } from '../records/case.ts';
import type { EventBody, EventRecord } from '../records/event.ts';
import type { ChecklistEntry, ProofMatter } from '../records/proof.ts';
import { groupCommit, isLong, RESERVE } from './group-commit.ts';
import { type Backlog, createBacklog, createRecent, type Recent } from './journal-backlog.ts';
import { type JournalFile, openJournalFile } from './journal-file.ts';
import type { Damage, TellLine } from './journal-lines.ts';

/**
 * What was last seen of each Work item, and every event, together: one line holds the new state and the events that
 * the change makes, so a transition has exactly one event record, whatever dies when. Where a receiver has got to is a
 * line too. A file that has grown long is followed by one that begins with the state as it is, and stays until every
 * receiver has its events. All of it can be thrown away: the next start takes a silent baseline.
 */
export interface Journal {
  /** True when there was no journal: what is found on disk makes no events. */
  readonly fresh: boolean;
  readonly seen: ReadonlyMap<string, ToldState>;
  /** What was last seen of Work items that somebody took away by hand: of the newest, for a week. */
  readonly gone: ReadonlyMap<string, Gone>;
  /** Sessions that this machine has begun and not ended: session id → what was last told of it. */
  readonly runs: ReadonlyMap<string, RunSeen>;
  readonly cursors: ReadonlyMap<string, number>;
  /** What was last told of anything else, by a name of its own. */
  readonly told: ReadonlyMap<string, unknown>;
  /** The sequence number of the newest event. Numbers only grow, also over restarts and what was damaged. */
  readonly last: number;
  /** Events up to this one cannot be read any more. */
  readonly oldest: number;
  /** What of the newest file could not be read when it was opened. */
  readonly damaged: readonly Damage[];
  /** Resolves when there is room on disk for what a write will append; ENOSPC is met here, before the write. A file that was removed is made again. */
  reserve(): Promise<void>;
  append(entry: JournalEntry): Promise<EventRecord[]>;
  /** The events after `seq` that some receiver has not got yet, oldest first: the newest from memory, others from disk. */
  after(seq: number): AsyncGenerator<EventRecord>;
  /** The same whether or not a receiver waits for them: all that are still there, which are the newest thousand at least. */
  history(seq: number): AsyncGenerator<EventRecord>;
  /** Events up to `seq` are no longer needed by any receiver. */
  release(seq: number): void;
  /** Told of events once they are on disk. A listener that throws keeps nobody from anything: it is reported. */
  onEvents(listener: (events: EventRecord[]) => void): void;
  /** False when another process wrote it meanwhile: what is known of it here does not hold any more. */
  isAsLeft(): boolean;
  close(): Promise<void>;
}

/**
 * The form of what is compared of a Work item. Each state has its own, so that one of another release, also of an older one
 * that was at work in between, is compared in its own form: what that did not have is no news. Whoever compares other
 * values raises it, says in `store/item/compare.ts` what the form before had not, and keeps a journal of it as a test.
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

interface Line extends Omit<JournalEntry, 'events'> {
  events?: EventRecord[];
  last?: number;
}

/** Opens the journal of this machine, and cuts a line that a crash left half written. */
export const openJournal = async (dir: string, report: Report = raise): Promise<Journal> => {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const state = emptyState();
  const recent = createRecent();
  const former = readingInto(state, recent);
  const { file, damaged } = await openJournalFile(dir, former.tell);
  dropOld(state);
  const backlog = createBacklog(file, recent, (name) => report(undefined, lostIn(name)));
  const parts = { file, state, recent, backlog };
  const first = former.first();
  await backlog.open(first?.last ?? state.last);
  if (first === undefined) await file.append([...linesOf(state)]);
  // A full disk keeps the long one, which is as good.
  if (isLong(file, former.bytes())) await rotate(parts).catch(() => undefined);
  const found = { fresh: first === undefined, damaged, bytes: former.bytes() };
  return journalOf(parts, report, found);
};

const lostIn = (name: string): string =>
  `A part of .dossier/journal/${name} is damaged: events in it that were not delivered yet are lost. Look after the disk`;

/** Takes the lines of a former life one by one, and measures what of them is the state. */
const readingInto = (state: State, recent: Recent) => {
  const sizes = new Map<string, number>();
  let first: Line | undefined;
  const tell: TellLine = (json, lost) => {
    // It may have held events, whose numbers somebody has heard of: none is given again.
    state.last += lost;
    if (json === undefined) return;
    const line = JSON.parse(json) as Line;
    take({ state, recent }, line);
    first ??= line;
    measure(sizes, line, json.length);
  };
  const bytes = (): number => [...sizes.values()].reduce((sum, size) => sum + size, 0);
  return { tell, first: () => first, bytes };
};

const measure = (sizes: Map<string, number>, line: Line, size: number): void => {
  for (const kind of KINDS) {
    const part = line[kind] ?? {};
    if ('id' in part)
      sizes.set(`${kind} ${part.id}`, Object.values(part).includes(null) ? 0 : size);
  }
};

const KINDS = ['seen', 'gone', 'run', 'cursor', 'told'] as const;

/** What the journal last saw of each Work item, read from its lines by whoever may not write. */
export const seenIn = (lines: readonly string[]): ReadonlyMap<string, ToldState> => {
  const state = emptyState();
  for (const line of lines) apply(state, JSON.parse(line) as Line);
  return state.seen;
};

type Report = (error: unknown, what: string) => void;

// Out of the journal's way: whoever does not take reports is told by the process as a whole.
const raise: Report = (error) => {
  setImmediate(() => {
    throw error;
  });
};

interface State {
  seen: Map<string, ToldState>;
  gone: Map<string, Gone>;
  runs: Map<string, RunSeen>;
  cursors: Map<string, number>;
  told: Map<string, unknown>;
  last: number;
}

const emptyState = (): State => ({
  seen: new Map(),
  gone: new Map(),
  runs: new Map(),
  cursors: new Map(),
  told: new Map(),
  last: 0,
});

const apply = (state: State, line: Line): void => {
  if (line.seen !== undefined) put(state.seen, line.seen.id, line.seen.state);
  if (line.gone !== undefined) bury(state.gone, line.gone);
  if (line.run !== undefined) put(state.runs, line.run.id, line.run.state);
  if (line.cursor !== undefined) put(state.cursors, line.cursor.id, line.cursor.seq);
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

const dropOld = ({ gone }: State): void => {
  for (const [id, { at }] of gone) if (Date.now() - Date.parse(at) > GONE_MS) gone.delete(id);
};

const take = ({ state, recent }: Pick<Parts, 'state' | 'recent'>, line: Line): void => {
  apply(state, line);
  if (line.events !== undefined) recent.add(line.events);
};

interface Parts {
  file: JournalFile;
  state: State;
  recent: Recent;
  backlog: Backlog;
}

const rotate = async ({ file, state, backlog }: Parts): Promise<void> => {
  dropOld(state);
  await file.rotate(linesOf(state), state.last);
  backlog.tidy();
};

interface Found {
  fresh: boolean;
  damaged: readonly Damage[];
  /** How much of what was found is the state. */
  bytes: number;
}

const journalOf = (parts: Parts, report: Report, { fresh, damaged, bytes }: Found): Journal => {
  const { file, state, backlog } = parts;
  const listeners: Listener[] = [];
  let next = state.last;
  const settle = (line: Line): void => {
    take(parts, line);
    tellAll(listeners, line.events ?? [], report);
  };
  const writer = groupCommit(file, { settle, rotate: () => rotate(parts), state: bytes });
  return {
    fresh,
    damaged,
    seen: state.seen,
    gone: state.gone,
    runs: state.runs,
    cursors: state.cursors,
    told: state.told,
    get last() {
      return next;
    },
    get oldest() {
      return backlog.oldest;
    },
    reserve: async () => {
      if (file.room < RESERVE || !file.isInPlace()) await writer.push(undefined);
    },
    append: async ({ events = [], ...entry }) => {
      const records = events.map((body) => ({ seq: ++next, id: randomUUID(), body }));
      await writer.push(records.length === 0 ? entry : { ...entry, events: records });
      return records;
    },
    after: backlog.after,
    history: backlog.history,
    release: backlog.release,
    onEvents: (listener) => listeners.push(listener),
    isAsLeft: file.isAsLeft,
    close: async () => {
      await writer.idle();
      await file.close();
    },
  };
};

type Listener = (events: EventRecord[]) => void;

// By then the events are on disk: a listener's fault must neither look as if they were not, nor hold up the next line.
const tellAll = (listeners: readonly Listener[], events: EventRecord[], report: Report): void => {
  if (events.length === 0) return;
  for (const listener of listeners)
    try {
      listener(events);
    } catch (error) {
      report(error, 'telling of events');
    }
};

// The state without events: those stay where they are.
const linesOf = function* (state: State): Generator<string> {
  const encode = (line: Line): string => JSON.stringify(line);
  yield encode({ last: state.last });
  for (const [id, seen] of state.seen) yield encode({ seen: { id, state: seen } });
  for (const [id, gone] of state.gone) yield encode({ gone: { id, state: gone } });
  for (const [id, run] of state.runs) yield encode({ run: { id, state: run } });
  for (const [id, seq] of state.cursors) yield encode({ cursor: { id, seq } });
  for (const [id, told] of state.told) yield encode({ told: { id, state: told } });
  // Once more, should the beginning be damaged.
  yield encode({ last: state.last });
};
