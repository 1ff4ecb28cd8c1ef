import { lstatSync } from 'node:fs';
import { readLinesFrom, seekLines } from '../fs/lines.ts';
import { gapEvent, parseEvent, type TranscriptEvent } from './transcript-event.ts';

/** The two files of a session's log: events.ndjson, and the file below .dossier/ that continues it. */
export interface LogFiles {
  path: () => string;
  rest: (() => string) | undefined;
}

/** A position in one of the files. */
interface LogPosition {
  file: () => string;
  offset: number;
}

interface LogBatch {
  /** The events after those that the reader has. */
  found: readonly TranscriptEvent[];
  place: LogPosition;
  /** Whether this is the end of the log for now. */
  end: boolean;
}

/** The position from which to read the events after `after`. */
export const startAfter = (files: LogFiles, pieces: Pieces, after: number): LogPosition => {
  const { path, rest } = files;
  const [first] = rest === undefined ? [] : pieces(rest(), 0).events;
  const file = rest !== undefined && first !== undefined && first.id <= after + 1 ? rest : path;
  return { file, offset: placeAfter(file(), after) };
};

/** The next events and the next position. At the end of the complete part of events.ndjson, reading continues in `rest`. */
export const readNext = (
  { rest }: LogFiles,
  pieces: Pieces,
  { place: { file, offset }, told }: { place: LogPosition; told: number },
): LogBatch => {
  const { events, next } = pieces(file(), offset);
  const split = file === rest || !isThere(rest) ? -1 : events.findIndex(isSplitEvent);
  if (split < 0) {
    const end = next === offset;
    return { found: eventsAfter(events, told), place: { file, offset: next }, end };
  }
  const found = eventsAfter(events.slice(0, split), told);
  return { found, place: { file: rest ?? file, offset: 0 }, end: false };
};

const isThere = (rest: LogFiles['rest']): boolean =>
  rest !== undefined && lstatSync(rest(), { throwIfNoEntry: false }) !== undefined;

const isSplitEvent = ({ event, data }: TranscriptEvent): boolean =>
  event === 'gap' && data.reason === 'kept_elsewhere';

export interface Piece {
  events: readonly TranscriptEvent[];
  /** Offset of the next piece; equal to the offset of this one at the end of the file. */
  next: number;
}

/** Reads a piece of an event file. Readers at the same position share it. */
export type Pieces = (path: string, offset: number) => Piece;

// Pieces of 16 KB each that are kept for readers slightly behind, and for those that come later.
const RECENT = 16;
const TIDY_AT = 1024;

/** A piece is read once while a reader holds it and the file is unchanged. A few recent pieces are always kept. */
export const createPieces = (): Pieces => {
  const held = new Map<string, WeakRef<Piece>>();
  const recent: Piece[] = [];
  const keep = (key: string, piece: Piece): Piece => {
    held.set(key, new WeakRef(piece));
    recent.push(piece);
    if (recent.length > RECENT) recent.shift();
    if (held.size > TIDY_AT) removeCollected(held);
    return piece;
  };
  return (path, offset) => {
    const key = `${offset} ${versionOf(path)} ${path}`;
    return held.get(key)?.deref() ?? keep(key, readPiece(path, offset));
  };
};

const removeCollected = (held: Map<string, WeakRef<Piece>>): void => {
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

// Numbers that occur again later in the file were edited, or come from the other side of a merge.
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

/** The offset in a file from which to read the events after `after`. */
const placeAfter = (path: string, after: number): number =>
  after === 0 ? 0 : seekLines(path, parseEvent, ({ id }) => id <= after);

/** The events after `after`, each once, with a `gap` event for missing numbers. Returns the array itself if it fits as it is. */
const eventsAfter = (
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
