import { lstatSync } from 'node:fs';
import { eventsAfter, type Pieces, placeAfter } from './pieces.ts';
import type { TranscriptEvent } from './transcript-event.ts';

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
