import { setImmediate as nextTurn } from 'node:timers/promises';
import { createNotifier } from '../base/async.ts';
import { visible, visibleOutput, visibleWithin } from '../base/visible.ts';
import { eventsFile } from '../layout.ts';
import { createPieces, type LogFiles, type Pieces, readNext, startAfter } from './log-reader.ts';
import { openLog } from './log-writer.ts';
import {
  gapEvent,
  KEPT_LIMIT,
  LOG_LIMIT,
  logFullEvent,
  type NewTranscriptEvent,
  type TranscriptEvent,
  withoutText,
} from './transcript-event.ts';

export type Batches = AsyncGenerator<readonly TranscriptEvent[]>;

export interface TranscriptOptions {
  /** Shared by transcripts whose readers share pieces. */
  pieces?: Pieces;
  /** Bytes after which the log leaves out texts. */
  limit?: number;
  /** The file with the complete log once events.ndjson has `kept` bytes. Without it, events.ndjson is complete. */
  rest?: () => string;
  kept?: number;
  /** Called before events.ndjson is opened to write; throws if it must not be, as without its session's record. */
  assertMeant?: () => void;
}

/** The event after which a session's stream ends. */
const LAST_EVENT = 'complete';

/**
 * Opens the execution events of a session, live or ended, and serves its readers. Readers keep a file position, not the
 * events. `where` returns the session's directory now, which may be moved by hand.
 */
export const openTranscript = (
  where: () => string,
  clock: () => Date,
  options: TranscriptOptions = {},
) => {
  const { pieces = createPieces(), limit = LOG_LIMIT, kept = KEPT_LIMIT } = options;
  const { rest, assertMeant } = options;
  const files: LogFiles = { path: () => eventsFile(where()), rest };
  const room = createNotifier();
  const log = openLog(files, { limit: kept, shown: visibleData, assertMeant });
  let complete = log.last?.event === LAST_EVENT;
  let ended = complete;
  const write = (events: readonly NewTranscriptEvent[], goesOn = true): void =>
    log.add(events, { at: clock().toISOString(), goesOn });
  const appendAll = (events: readonly NewTranscriptEvent[]): void => {
    const wasFull = log.size() >= limit;
    const told = wasFull ? events.flatMap(withoutText) : events;
    if (told.length === 0) return;
    const ends = told.some(([event]) => event === LAST_EVENT);
    write(told, !ends);
    complete ||= ends;
    ended ||= complete;
    if (!wasFull && !complete && log.size() >= limit) write([logFullEvent(limit)]);
    room.wake();
  };
  // The file was cut: without a gap event the reader would wait for numbers that it has already.
  const cutBefore = (after: number): TranscriptEvent[][] =>
    after > log.seq ? [[gapEvent(log.seq + 1, after, log.seq)]] : [];
  return {
    /** Appends several events with one write. A crash may cut off the last ones. */
    appendAll,
    append: (event: string, data: Record<string, unknown>): void => appendAll([[event, data]]),
    /** Whether the session's last event is written. */
    get complete() {
      return complete;
    },
    /** The number of the last event. */
    get last() {
      return log.seq;
    },
    /** Returns once all events are on disk. */
    sync: log.sync,
    /** The events after `after`, in batches: those on disk, then new ones, up to the session's last event. */
    follow: async function* (after: number, signal: AbortSignal): Batches {
      const { seq } = log;
      yield* cutBefore(after);
      const more = () => (ended ? undefined : room.wait(signal));
      yield* eventsFrom({ ...files, pieces, signal, more }, Math.min(after, seq));
    },
    /** The events on disk after `after`, in batches. */
    soFar: async function* (after: number): Batches {
      yield* cutBefore(after);
      yield* eventsFrom({ ...files, pieces, pause: nextTurn }, after);
    },
    /** Ends the streams of readers that have all events. */
    end: (): void => {
      ended = true;
      room.wake();
    },
  };
};

export type Transcript = ReturnType<typeof openTranscript>;

// Makes invisible characters visible; terminal colours of program output are dropped.
const visibleData = ([event, { output, ...data }]: NewTranscriptEvent): NewTranscriptEvent[1] => ({
  ...visibleWithin(data, event === 'tool_output' ? visibleOutput : visible),
  ...(output !== undefined && { output: visibleWithin(output, visibleOutput) }),
});

interface Source extends LogFiles {
  pieces: Pieces;
  signal?: AbortSignal;
  /** Resolves when there may be more events; undefined at the end of the session. */
  more?: () => Promise<void> | undefined;
  /** Yields to requests between two pieces. */
  pause?: () => Promise<void>;
}

const eventsFrom = async function* (
  { pieces, signal, more, pause, ...files }: Source,
  after: number,
): Batches {
  let told = after;
  for (let place = startAfter(files, pieces, after); signal?.aborted !== true; ) {
    const { found, place: next, end } = readNext(files, pieces, { place, told });
    told = found.at(-1)?.id ?? told;
    if (found.length > 0) yield found;
    // Reading and waiting happen in the same turn of the event loop, so no write falls in between.
    const later = end ? more?.() : undefined;
    if (end && later === undefined) return;
    await (later ?? pause?.());
    place = next;
  }
};
