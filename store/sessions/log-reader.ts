import { lstatSync } from 'node:fs';
import { readLinesFrom, seekLines } from '../fs/lines.ts';
import { gapEvent, parseEvent, type TranscriptEvent } from './transcript-event.ts';

/** The two files of a session's log: events.ndjson, and the one on this machine where that stops having all. */
export interface LogFiles {
  path: () => string;
  rest: (() => string) | undefined;
}

/** A place in them. */
export interface LogPosition {
  file: () => string;
  offset: number;
}

export interface Next {
  /** What comes after what the reader has. */
  found: readonly TranscriptEvent[];
  place: LogPosition;
  /** There is nothing more for now. */
  end: boolean;
}

/** Where to begin to read for the events after `after`. */
export const startAfter = (files: LogFiles, pieces: Pieces, after: number): LogPosition => {
  const { path, rest } = files;
  const [first] = rest === undefined ? [] : pieces.read(rest(), 0).events;
  const file = rest !== undefined && first !== undefined && first.id <= after + 1 ? rest : path;
  return { file, offset: placeAfter(file(), after) };
};

/** The next events, and where to go on: where events.ndjson says that it has not all, in the file that has. */
export const readOn = (
  { rest }: LogFiles,
  pieces: Pieces,
  { place: { file, offset }, told }: { place: LogPosition; told: number },
): Next => {
  const { events, next } = pieces.read(file(), offset);
  const split = file === rest || !isThere(rest) ? -1 : events.findIndex(isSplit);
  if (split < 0) {
    const end = next === offset;
    return { found: eventsAfter(events, told), place: { file, offset: next }, end };
  }
  const found = eventsAfter(events.slice(0, split), told);
  return { found, place: { file: rest ?? file, offset: 0 }, end: false };
};

const isThere = (rest: LogFiles['rest']): boolean =>
  rest !== undefined && lstatSync(rest(), { throwIfNoEntry: false }) !== undefined;

const isSplit = ({ event, data }: TranscriptEvent): boolean =>
  event === 'gap' && data.reason === 'kept_elsewhere';

export interface Piece {
  events: readonly TranscriptEvent[];
  /** Where the next piece begins; where this one began when there is nothing more. */
  next: number;
}

/** Reads event files piece by piece, for all who read them: those who are at the same place share what was read. */
export interface Pieces {
  read(path: string, offset: number): Piece;
}

// Of 16 KB each: for readers that are a little apart, and for those that come one after the other.
const RECENT = 16;
const TIDY_AT = 1024;

/** A piece is read once as long as somebody holds it and the file is the same. Of those that nobody holds, a few are kept. */
export const createPieces = (): Pieces => {
  const held = new Map<string, WeakRef<Piece>>();
  const recent: Piece[] = [];
  const keep = (key: string, piece: Piece): Piece => {
    held.set(key, new WeakRef(piece));
    recent.push(piece);
    if (recent.length > RECENT) recent.shift();
    if (held.size > TIDY_AT) forgetDropped(held);
    return piece;
  };
  return {
    read: (path, offset) => {
      const key = `${offset} ${versionOf(path)} ${path}`;
      return held.get(key)?.deref() ?? keep(key, readPiece(path, offset));
    },
  };
};

const forgetDropped = (held: Map<string, WeakRef<Piece>>): void => {
  for (const [key, piece] of held) if (piece.deref() === undefined) held.delete(key);
};

const versionOf = (path: string): string => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? 'none' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
};

const readPiece = (path: string, offset: number): Piece => {
  const { values, next } = readLinesFrom(path, offset, parseEvent);
  return { events: inIdOrder(values), next };
};

// A number that one later in the file reaches again was edited, or is of the other side of a merge.
const inIdOrder = (events: readonly TranscriptEvent[]): readonly TranscriptEvent[] => {
  let least = Number.POSITIVE_INFINITY;
  return events
    .toReversed()
    .filter(({ id }) => {
      const before = id < least;
      if (before) least = id;
      return before;
    })
    .reverse();
};

/** Where to begin to read for the events after `after`. */
export const placeAfter = (path: string, after: number): number =>
  after === 0 ? 0 : seekLines(path, parseEvent, ({ id }) => id <= after);

/** The events that come after `after`, each once, with a `gap` where some are missing. The array itself when it is just these. */
export const eventsAfter = (
  events: readonly TranscriptEvent[],
  after: number,
): readonly TranscriptEvent[] => {
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined || last.id <= after) return [];
  if (first.id === after + 1 && last.id === after + events.length) return events;
  const found: TranscriptEvent[] = [];
  let told = after;
  for (const event of events) {
    if (event.id <= told) continue;
    if (event.id > told + 1) found.push(gapEvent(told + 1, event.id - 1));
    found.push(event);
    told = event.id;
  }
  return found;
};
