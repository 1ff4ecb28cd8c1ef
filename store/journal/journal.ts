import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { EventRecord } from '../records/event.ts';
import { groupCommit, isLong, RESERVE } from './group-commit.ts';
import { type Backlog, createBacklog, createRecent, type Recent } from './journal-backlog.ts';
import { type JournalFile, openJournalFile } from './journal-file.ts';
import type { Damage, TellLine } from './journal-lines.ts';
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
 * What was last seen of each Work item, and every event, together: one line holds the new state and the events that
 * the change makes, so a transition has exactly one event record, whatever dies when. Where a receiver has got to is a
 * line too. A file that has grown long is followed by one that begins with the state as it is, and stays until every
 * receiver has its events. All of it can be thrown away: the next start takes a silent baseline. So it does where a mark
 * says that more was told than the journal has; then numbers go on behind all that was told.
 */
export interface Journal {
  /** True when there was no journal, or one that is older than what was told: what is found on disk makes no events. */
  readonly fresh: boolean;
  /** Where a journal ended that was older than what was told, and what was told then, until somebody heard of it. */
  readonly rolledBack: RolledBack | undefined;
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
  /** About how many bytes on disk hold the events after `seq`; 0 where that is one of the newest thousand. */
  behind(seq: number): number;
  /** Events up to `seq` are no longer needed by any receiver. */
  release(seq: number): void;
  /** Told of events once they are on disk. A listener that throws keeps nobody from anything: it is reported. */
  onEvents(listener: (events: EventRecord[]) => void): void;
  /** False when another process wrote it meanwhile: what is known of it here does not hold any more. */
  isAsLeft(): boolean;
  close(): Promise<void>;
}

export interface RolledBack {
  last: number;
  told: number;
}

/** Opens the journal of this machine, and cuts a line that a crash left half written. `mark`: how far it was told. */
export const openJournal = async (
  dir: string,
  report: Report = raise,
  mark?: JournalMark,
): Promise<Journal> => {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const state = emptyState();
  const recent = createRecent();
  const former = readingInto(state, recent);
  const { file, damaged } = await openJournalFile(dir, former.tell);
  try {
    return await begunIn({ file, state, recent }, { former, damaged, mark, report });
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

const begunIn = async (
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
  // Of a release that knew no epochs. Without the line the mark names it at the next start.
  else if (!isNamed)
    await file.append([JSON.stringify({ epoch: state.epoch })]).catch(() => undefined);
  // A full disk keeps the long one, which is as good.
  if (isLong(file, former.bytes())) await rotate(parts).catch(() => undefined);
  const fresh = first === undefined || isOld;
  return journalOf({ ...parts, mark }, report, {
    fresh,
    damaged,
    bytes: former.bytes(),
  });
};

/**
 * Brings the mark and the state together. What a state says of files that is older than what was told is forgotten: a
 * comparison would tell it again. How far receivers have got stays: what they are owed is delivered with the ids it had. The
 * mark comes first: who dies in between finds another epoch, and does the same.
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

/** What the journal keeps under this name until it is told. */
export const ROLLED_BACK = 'rolled back';

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

type Report = (error: unknown, what: string) => void;

// Out of the journal's way: whoever does not take reports is told by the process as a whole.
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
  /** How much of what was found is the state. */
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
    tellAll(listeners, line.events ?? [], report);
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
    isAsLeft: file.isAsLeft,
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

// The event is in the journal by then, and has to be told. What goes wrong is reported once, until it goes well again.
const noting = (mark: JournalMark | undefined, report: Report): ((seq: number) => void) => {
  let isWell = true;
  return (seq) => {
    try {
      mark?.note(seq);
      isWell = true;
    } catch (error) {
      if (isWell) report(error, 'noting in the state directory which events were told');
      isWell = false;
    }
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
