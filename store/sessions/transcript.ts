import { setImmediate as nextTurn } from 'node:timers/promises';
import { lastLine } from '../disk/lines.ts';
import { eventsFile } from '../layout.ts';
import { jsonText } from '../text/json.ts';
import { visibleOutput, visibleWithin } from '../text/visible.ts';
import { openEventLog } from './event-log.ts';
import { LOG_LIMIT, logIsFull, withoutWords } from './log-limit.ts';
import { createPieces, eventsAfter, type Pieces, placeAfter } from './pieces.ts';
import { missing, parseEvent, type TranscriptEvent, type Untold } from './transcript-event.ts';

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
  /** In bytes: when the file has them, what is said at length is left out. */
  limit?: number;
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
  { pieces = createPieces(), limit = LOG_LIMIT }: TranscriptOptions = {},
): Transcript => {
  const path = (): string => eventsFile(where());
  const room = waitingRoom();
  const { value: last, unread } = lastLine(path(), parseEvent);
  // Lines that nobody can read any more had numbers too, and readers may have seen them.
  let seq = (last?.id ?? 0) + unread;
  let complete = last?.event === LAST_EVENT;
  let ended = complete;
  const log = openEventLog(path);
  const write = (events: readonly Untold[]): void => {
    log.add(linesOf(events, seq, clock()));
    seq += events.length;
  };
  const appendAll = (events: readonly Untold[]): void => {
    const wasFull = log.size() >= limit;
    const kept = wasFull ? events.flatMap(withoutWords) : events;
    if (kept.length === 0) return;
    write(kept);
    complete ||= kept.some(([event]) => event === LAST_EVENT);
    ended ||= complete;
    if (!wasFull && !complete && log.size() >= limit) write([logIsFull(limit)]);
    room.wake();
  };
  const read = (offset: number) => pieces.read(path(), offset);
  return {
    appendAll,
    append: (event, data) => appendAll([[event, data]]),
    get complete() {
      return complete;
    },
    get last() {
      return seq;
    },
    sync: log.sync,
    follow: (after, signal) => {
      const wait = () => (ended ? undefined : room.wait(signal));
      return follow({ read, path, signal, wait }, after, seq);
    },
    soFar: (after) => soFar({ read, path }, after),
    end: () => {
      ended = true;
      room.wake();
    },
  };
};

const linesOf = (events: readonly Untold[], seq: number, at: Date): string =>
  events
    .map(([event, data], index) => ({
      id: seq + 1 + index,
      event,
      data: { ...shown(data), at: at.toISOString() },
    }))
    .map((event) => `${jsonText(event)}\n`)
    .join('');

// Whoever reads along sees all there is. What a program wrote has colours, which say nothing.
const shown = ({ output, ...data }: Untold[1]): Untold[1] => ({
  ...visibleWithin(data),
  ...(output !== undefined && { output: visibleWithin(output, visibleOutput) }),
});

interface Source {
  path: () => string;
  read: (offset: number) => ReturnType<Pieces['read']>;
}

interface Reader extends Source {
  signal: AbortSignal;
  /** Resolves when there may be more; undefined when there will not be. */
  wait: () => Promise<void> | undefined;
}

const follow = async function* (
  { path, read, signal, wait }: Reader,
  after: number,
  seq: number,
): Batches {
  // The file was cut since: without a word the reader would wait for numbers it has already.
  if (after > seq) yield [missing(seq + 1, after, seq)];
  let told = Math.min(after, seq);
  for (let offset = placeAfter(path(), told); !signal.aborted; ) {
    const { events, next } = read(offset);
    const found = eventsAfter(events, told);
    told = found.at(-1)?.id ?? told;
    if (found.length > 0) yield found;
    if (next === offset) {
      // Nothing can be written between the reading and the waiting: both are in this turn of the loop.
      const later = wait();
      if (later === undefined) return;
      await later;
    }
    offset = next;
  }
};

const soFar = async function* ({ path, read }: Source, after: number): Batches {
  let told = after;
  for (let offset = placeAfter(path(), after); ; ) {
    const { events, next } = read(offset);
    const found = eventsAfter(events, told);
    told = found.at(-1)?.id ?? told;
    if (found.length > 0) yield found;
    if (next === offset) return;
    offset = next;
    // Others have their turn between two pieces.
    await nextTurn();
  }
};

/** Where readers wait for the next event. */
const waitingRoom = () => {
  const waiting = new Set<() => void>();
  return {
    wake: (): void => {
      for (const leave of [...waiting]) leave();
    },
    wait: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const leave = (): void => {
          waiting.delete(leave);
          signal.removeEventListener('abort', leave);
          resolve();
        };
        waiting.add(leave);
        signal.addEventListener('abort', leave);
      }),
  };
};
