import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { EventRecord } from '../records/event.ts';
import { groupCommit, isLong, RESERVE } from './group-commit.ts';
import { type Backlog, createBacklog, createRecent, type Recent } from './journal-backlog.ts';
import { type AssertHeld, type JournalFile, openJournalFile } from './journal-file.ts';
import type { Damage, LineHandler } from './journal-lines.ts';
import {
  apply,
  dropOld,
  emptyState,
  type Gone,
  type JournalEntry,
  type Line,
  linesOf,
  type RunSeen,
  type State,
  type ToldState,
} from './journal-state.ts';
import { isOlder, type JournalMark } from './mark.ts';

/**
 * The last known state of each Work item, and every event. One line holds a new state together with its events, so that a
 * change has exactly one event record, even after a crash. The position of each receiver is a line too. A long file is
 * followed by one that starts with the current state; it stays until every receiver has its events. The journal can be
 * deleted: the next start then takes the files as they are, without events. The same happens if the mark says that more
 * events were sent than the journal has; numbers then continue after those.
 */
export interface Journal
  extends Pick<Backlog, 'oldest' | 'after' | 'history' | 'behind' | 'release'>,
    Pick<JournalFile, 'isUnmodified'> {
  /** True if there was no journal, or it was older than the events sent: then the first comparison makes no events. */
  readonly fresh: boolean;
  /** The end of a journal that was older than the events sent, and the last one sent, until that was reported. */
  readonly rolledBack: RolledBack | undefined;
  readonly seen: ReadonlyMap<string, ToldState>;
  /** The last state of Work items removed by hand, kept for a week. */
  readonly gone: ReadonlyMap<string, Gone>;
  /** Sessions of this machine that have not ended: session id → last reported status. */
  readonly runs: ReadonlyMap<string, RunSeen>;
  readonly cursors: ReadonlyMap<string, number>;
  /** The last reported state of anything else, by name. */
  readonly told: ReadonlyMap<string, unknown>;
  /** The sequence number of the newest event. Numbers only grow, also over restarts and damage. */
  readonly last: number;
  /** The damaged lines of the newest file when it was opened. */
  readonly damaged: readonly Damage[];
  /** Reserves room for the next append, so that ENOSPC is thrown before a write. Restores a removed file. */
  reserve(): Promise<void>;
  append(entry: JournalEntry): Promise<EventRecord[]>;
  /** Calls the listener with events once they are on disk. Its errors are reported and have no other effect. */
  onEvents(listener: (events: EventRecord[]) => void): void;
  close(): Promise<void>;
}

export interface RolledBack {
  last: number;
  told: number;
}

/** Opens the journal, and cuts an incomplete last line. `mark`: how far events were sent. */
export const openJournal = async (
  dir: string,
  report: Report = raise,
  mark?: JournalMark,
  assertHeld?: AssertHeld,
): Promise<Journal> => {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const state = emptyState();
  const recent = createRecent();
  const former = readingInto(state, recent);
  const { file, damaged } = await openJournalFile(dir, former.tell, assertHeld);
  try {
    return await startJournal({ file, state, recent }, { former, damaged, mark, report });
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
};

interface Beginning extends Marked {
  former: ReturnType<typeof readingInto>;
  damaged: Damage[];
  report: Report;
}

const startJournal = async (
  { file, state, recent }: Omit<Parts, 'backlog'>,
  { former, damaged, mark, report }: Beginning,
): Promise<Journal> => {
  dropOld(state);
  const backlog = createBacklog(file, recent, (name) => report(undefined, lostIn(name)));
  const parts = { file, state, recent, backlog };
  const first = former.first();
  backlog.open(first?.last ?? state.last, former.bytes());
  const isNamed = state.epoch !== undefined;
  const isOld = catchUp(state, mark);
  if (first === undefined) await file.append([...linesOf(state)]);
  else if (isOld) await rotate(parts);
  // A journal of an older release has no epoch. If the append fails, the mark supplies it at the next start.
  else if (!isNamed)
    await file.append([JSON.stringify({ epoch: state.epoch })]).catch(() => undefined);
  // On a full disk the long file stays in use.
  if (isLong(file, former.bytes())) await rotate(parts).catch(() => undefined);
  const fresh = first === undefined || isOld;
  return journalOf({ ...parts, mark }, report, {
    fresh,
    damaged,
    bytes: former.bytes(),
  });
};

/**
 * Reconciles state and mark. A state older than the events sent is dropped, because a comparison would send them again. The
 * positions of receivers stay, so that undelivered events keep their ids. The mark is written first: after a crash in
 * between, the epochs differ and the next start does the same.
 */
const catchUp = (state: State, mark: JournalMark | undefined): boolean => {
  const noted = mark?.found;
  const { last } = state;
  if (noted === undefined || !isOlder(state, noted)) {
    state.epoch ??= noted?.epoch ?? randomUUID();
    const reserved = Math.max(last, noted?.reserved ?? 0);
    mark?.begin({ epoch: state.epoch, last, reserved });
    return false;
  }
  const { cursors } = state;
  const told = new Map([[ROLLED_BACK, { last, told: noted.last }]]);
  const [epoch, reserved] = [randomUUID(), Math.max(last, noted.reserved)];
  Object.assign(state, emptyState(), { cursors, told, epoch, last: reserved });
  mark?.begin({ epoch, last: noted.last, reserved });
  return true;
};

/** The name in `told` under which a rollback is kept until it is reported. */
export const ROLLED_BACK = 'rolled back';

const lostIn = (name: string): string =>
  `A part of .dossier/journal/${name} is damaged; undelivered events in it are lost. Check the disk`;

/** Applies the lines of an existing journal, and measures the size of the state in them. */
const readingInto = (state: State, recent: Recent) => {
  const sizes: Sizes = new Map(KINDS.map((kind) => [kind, new Map()]));
  let first: Line | undefined;
  const tell: LineHandler = (json, lost) => {
    // Damaged bytes may have been events: skip at least as many numbers, so that none is used twice.
    state.last += lost;
    if (json === undefined) return;
    const line = JSON.parse(json) as Line;
    take({ state, recent }, line);
    first ??= line;
    measure(sizes, line, json.length);
  };
  const bytes = (): number =>
    [...sizes.values()]
      .flatMap((known) => [...known.values()])
      .reduce((sum, size) => sum + size, 0);
  return { tell, first: () => first, bytes };
};

type Sizes = ReadonlyMap<(typeof KINDS)[number], Map<string, number>>;

const measure = (sizes: Sizes, line: Line, size: number): void => {
  for (const [kind, known] of sizes) {
    const part = line[kind];
    if (part !== undefined) known.set(part.id, isRemoval(part) ? 0 : size);
  }
};

const isRemoval = (part: { state?: unknown; seq?: number | null }): boolean =>
  part.state === null || part.seq === null;

const KINDS = ['seen', 'gone', 'run', 'cursor', 'told'] as const;

type Report = (error: unknown, what: string) => void;

// Without a reporter, an error is thrown outside of the journal's calls.
const raise: Report = (error) => {
  setImmediate(() => {
    throw error;
  });
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
  /** The size of the state. */
  bytes: number;
}

const journalOf = (parts: Parts & Marked, report: Report, found: Found): Journal => {
  const { file, state, backlog, mark } = parts;
  const { fresh, damaged, bytes } = found;
  const rolledBack = state.told.get(ROLLED_BACK) as RolledBack | undefined;
  const note = noting(mark, report);
  const listeners: Listener[] = [];
  let next = state.last;
  const settle = (line: Line): void => {
    note(line.events?.at(-1)?.seq ?? 0);
    take(parts, line);
    notifyAll(listeners, line.events ?? [], report);
  };
  const writer = groupCommit(file, { settle, rotate: () => rotate(parts), state: bytes });
  return {
    fresh,
    rolledBack,
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
    behind: backlog.behind,
    release: backlog.release,
    onEvents: (listener) => listeners.push(listener),
    isUnmodified: file.isUnmodified,
    close: async () => {
      await writer.idle();
      await file.close();
      mark?.close();
    },
  };
};

interface Marked {
  mark: JournalMark | undefined;
}

// The event is already in the journal and must be sent. A failure is reported once, until the next success.
const noting = (mark: JournalMark | undefined, report: Report): ((seq: number) => void) => {
  let hasWorked = true;
  return (seq) => {
    try {
      mark?.note(seq);
      hasWorked = true;
    } catch (error) {
      if (hasWorked) report(error, 'recording in the state directory which events were sent');
      hasWorked = false;
    }
  };
};

type Listener = (events: EventRecord[]) => void;

// The events are on disk: an error of a listener must not fail the append or delay the next one.
const notifyAll = (listeners: readonly Listener[], events: EventRecord[], report: Report): void => {
  if (events.length === 0) return;
  for (const listener of listeners)
    try {
      listener(events);
    } catch (error) {
      report(error, 'notifying listeners of events');
    }
};
