import { closeSync, fsyncSync } from 'node:fs';
import { addLines, allLines, lastLine, openLines, readLines } from '../disk/lines.ts';
import { eventsFile } from '../layout.ts';

export interface TranscriptEvent {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

/** The execution events of one session: events.ndjson, one line each, and whoever reads along. */
export interface Transcript {
  append(event: string, data: Record<string, unknown>): void;
  /** Several events at once: after a crash there are all of them or, at the most, the first ones. */
  appendAll(events: readonly Untold[]): void;
  /** True once the session's last event is written. */
  readonly complete: boolean;
  /** Returns when everything so far is on disk. */
  sync(): void;
  /** Every event after `after`, from disk, then as they come; ends after the last event of the session. */
  follow(after: number, signal: AbortSignal): AsyncGenerator<TranscriptEvent>;
  soFar(after: number): TranscriptEvent[];
  /** No more will come: readers that have everything are let go. */
  end(): void;
}

export type Untold = readonly [event: string, data: Record<string, unknown>];

/** The event after which a session's stream ends. */
export const LAST_EVENT = 'complete';

/**
 * The transcript of a session, live or long ended. Readers keep a place in the file, not the events. `where` is the
 * session's directory this moment: it may be moved by hand.
 */
export const openTranscript = (where: () => string, clock: () => Date): Transcript => {
  const path = (): string => eventsFile(where());
  const room = waitingRoom();
  const last = lastLine<TranscriptEvent>(path());
  let seq = last?.id ?? 0;
  let complete = last?.event === LAST_EVENT;
  let ended = complete;
  let descriptor: number | undefined;
  const close = (): void => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  const appendAll = (events: readonly Untold[]): void => {
    const at = clock().toISOString();
    const lines = events.map(
      ([event, data], index) =>
        `${JSON.stringify({ id: seq + 1 + index, event, data: { ...data, at } })}\n`,
    );
    descriptor ??= openLines(path());
    try {
      addLines(descriptor, lines.join(''));
    } catch (error) {
      // Half a line may be there now; the next opening cuts it off.
      close();
      throw error;
    }
    seq += events.length;
    complete ||= events.some(([event]) => event === LAST_EVENT);
    ended ||= complete;
    room.wake();
  };
  return {
    appendAll,
    append: (event, data) => appendAll([[event, data]]),
    get complete() {
      return complete;
    },
    sync: () => {
      if (descriptor !== undefined) fsyncSync(descriptor);
      close();
    },
    follow: (after, signal) => {
      const wait = () => (ended ? undefined : room.wait(signal));
      return follow(path, after, { signal, wait });
    },
    soFar: (after) => [...allLines<TranscriptEvent>(path())].filter(({ id }) => id > after),
    end: () => {
      ended = true;
      room.wake();
    },
  };
};

interface Reader {
  signal: AbortSignal;
  /** Resolves when there may be more; undefined when there will not be. */
  wait: () => Promise<void> | undefined;
}

const follow = async function* (
  path: () => string,
  after: number,
  { signal, wait }: Reader,
): AsyncGenerator<TranscriptEvent> {
  for (let offset = 0; !signal.aborted; ) {
    const { values, next } = readLines<TranscriptEvent>(path(), offset);
    yield* values.filter(({ id }) => id > after);
    if (next === offset) {
      // Nothing can be written between the reading and the waiting: both are in this turn of the loop.
      const later = wait();
      if (later === undefined) return;
      await later;
    }
    offset = next;
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
