import { setImmediate as nextTurn } from 'node:timers/promises';
import { visible, visibleOutput, visibleWithin } from '../base/visible.ts';
import { createWaitingRoom } from '../base/waiting-room.ts';
import { eventsFile } from '../layout.ts';
import { createPieces, type LogFiles, type Pieces, readOn, startAfter } from './log-reader.ts';
import { openLog } from './log-writer.ts';
import {
  gapEvent,
  KEPT_LIMIT,
  LOG_LIMIT,
  logIsFull,
  type TranscriptEvent,
  type Untold,
  withoutWords,
} from './transcript-event.ts';

/** The execution events of one session: events.ndjson, one line each, and whoever reads along. */
export interface Transcript {
  append(event: string, data: Record<string, unknown>): void;
  /** Several events at once: after a crash there are all of them or, at the most, the first ones. */
  appendAll(events: readonly Untold[]): void;
  /** True once the session's last event is written. */
  readonly complete: boolean;
  /** The number of the newest event. */
  readonly last: number;
  /** Returns when everything so far is on disk. */
  sync(): void;
  /** Every event after `after`, from disk, then as they come, several at a time; ends after the last event of the session. */
  follow(after: number, signal: AbortSignal): Batches;
  /** Those so far, several at a time: never all of them in memory. */
  soFar(after: number): Batches;
  /** No more will come: readers that have everything are let go. */
  end(): void;
}

export type Batches = AsyncGenerator<readonly TranscriptEvent[]>;

export interface TranscriptOptions {
  /** Shared by the transcripts whose readers are to share what is read. */
  pieces?: Pieces;
  /** In bytes: when the log has them, what is said at length is left out. */
  limit?: number;
  /** Where all is kept of a log whose events.ndjson has `kept` bytes; without it that has all. */
  rest?: () => string;
  kept?: number;
}

/** The event after which a session's stream ends. */
export const LAST_EVENT = 'complete';

/**
 * The transcript of a session, live or long ended. Readers keep a place in the file, not the events. `where` is the
 * session's directory this moment: it may be moved by hand.
 */
export const openTranscript = (
  where: () => string,
  clock: () => Date,
  options: TranscriptOptions = {},
): Transcript => {
  const { pieces = createPieces(), limit = LOG_LIMIT, kept = KEPT_LIMIT, rest } = options;
  const files: LogFiles = { path: () => eventsFile(where()), rest };
  const room = createWaitingRoom();
  const log = openLog(files, kept, shown);
  let complete = log.last?.event === LAST_EVENT;
  let ended = complete;
  const write = (events: readonly Untold[], goesOn = true): void =>
    log.add(events, { at: clock().toISOString(), goesOn });
  const appendAll = (events: readonly Untold[]): void => {
    const wasFull = log.size() >= limit;
    const told = wasFull ? events.flatMap(withoutWords) : events;
    if (told.length === 0) return;
    const ends = told.some(([event]) => event === LAST_EVENT);
    write(told, !ends);
    complete ||= ends;
    ended ||= complete;
    if (!wasFull && !complete && log.size() >= limit) write([logIsFull(limit)]);
    room.wake();
  };
  return {
    appendAll,
    append: (event, data) => appendAll([[event, data]]),
    get complete() {
      return complete;
    },
    get last() {
      return log.seq;
    },
    sync: log.sync,
    follow: async function* (after, signal) {
      const { seq } = log;
      // The file was cut since: without a word the reader would wait for numbers it has already.
      if (after > seq) yield [gapEvent(seq + 1, after, seq)];
      const more = () => (ended ? undefined : room.wait(signal));
      yield* eventsFrom({ ...files, pieces, signal, more }, Math.min(after, seq));
    },
    soFar: (after) => eventsFrom({ ...files, pieces, pause: nextTurn }, after),
    end: () => {
      ended = true;
      room.wake();
    },
  };
};

// Whoever reads along sees all there is. What a program wrote has colours, which say nothing.
const shown = ([event, { output, ...data }]: Untold): Untold[1] => ({
  ...visibleWithin(data, event === 'tool_output' ? visibleOutput : visible),
  ...(output !== undefined && { output: visibleWithin(output, visibleOutput) }),
});

interface Source extends LogFiles {
  pieces: Pieces;
  signal?: AbortSignal;
  /** Of whoever reads along: resolves when there may be more; undefined when there will not be. */
  more?: () => Promise<void> | undefined;
  /** Others have their turn between two pieces. */
  pause?: () => Promise<void>;
}

const eventsFrom = async function* (
  { pieces, signal, more, pause, ...files }: Source,
  after: number,
): Batches {
  let told = after;
  for (let place = startAfter(files, pieces, after); signal?.aborted !== true; ) {
    const { found, place: next, end } = readOn(files, pieces, { place, told });
    told = found.at(-1)?.id ?? told;
    if (found.length > 0) yield found;
    // Nothing can be written between the reading and the waiting: both are in this turn of the loop.
    const later = end ? more?.() : undefined;
    if (end && later === undefined) return;
    await (later ?? pause?.());
    place = next;
  }
};
