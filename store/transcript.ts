import { closeSync, fsyncSync, writeSync } from 'node:fs';
import { eventsFile } from './layout.ts';
import { allLines, openLines, readLines } from './lines.ts';

export interface TranscriptEvent {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

/** The execution events of one session: events.ndjson, one line each, and whoever reads along. */
export interface Transcript {
  append(event: string, data: Record<string, unknown>): void;
  /** Returns when everything so far is on disk. */
  sync(): void;
  /** Every event after `after`, from disk, then as they come; ends after the last event of the session. */
  follow(after: number, signal: AbortSignal): AsyncGenerator<TranscriptEvent>;
  soFar(after: number): TranscriptEvent[];
  /** No more will come: readers that have everything are let go. */
  end(): void;
}

/** The event after which a session's stream ends. */
export const LAST_EVENT = 'complete';

/** The transcript of the session in `dir`, live or long ended. Readers keep a place in the file, not the events. */
export const openTranscript = (dir: string, clock: () => Date): Transcript => {
  const path = eventsFile(dir);
  const room = waitingRoom();
  let { seq, ended } = lastOf(path);
  let descriptor: number | undefined;
  return {
    append: (event, data) => {
      descriptor ??= openLines(path);
      seq += 1;
      const line = JSON.stringify({ id: seq, event, data: { ...data, at: clock().toISOString() } });
      writeSync(descriptor, `${line}\n`);
      ended ||= event === LAST_EVENT;
      room.wake();
    },
    sync: () => {
      if (descriptor === undefined) return;
      fsyncSync(descriptor);
      closeSync(descriptor);
      descriptor = undefined;
    },
    follow: (after, signal) => {
      const wait = () => (ended ? undefined : room.wait(signal));
      return follow(path, after, { signal, wait });
    },
    soFar: (after) => [...allLines<TranscriptEvent>(path)].filter(({ id }) => id > after),
    end: () => {
      ended = true;
      room.wake();
    },
  };
};

const lastOf = (path: string): { seq: number; ended: boolean } => {
  let last: TranscriptEvent | undefined;
  for (const event of allLines<TranscriptEvent>(path)) last = event;
  return { seq: last?.id ?? 0, ended: last?.event === LAST_EVENT };
};

interface Reader {
  signal: AbortSignal;
  /** Resolves when there may be more; undefined when there will not be. */
  wait: () => Promise<void> | undefined;
}

const follow = async function* (
  path: string,
  after: number,
  { signal, wait }: Reader,
): AsyncGenerator<TranscriptEvent> {
  for (let offset = 0; !signal.aborted; ) {
    const { values, next } = readLines<TranscriptEvent>(path, offset);
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
