import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { hasCode } from './durable.ts';
import { eventsFile } from './layout.ts';

export interface TranscriptEvent {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

/** The execution events of one session: events.ndjson, one line each, and whoever reads along. */
export interface Transcript {
  append(event: string, data: Record<string, unknown>): void;
  /** Resolves when everything so far is on disk. */
  sync(): void;
  /** Every event after `after`, from disk, then as they come; ends after the last event of the session. */
  follow(after: number, signal: AbortSignal): AsyncGenerator<TranscriptEvent>;
  soFar(after: number): TranscriptEvent[];
  /** No more will come: readers that have everything are let go. */
  end(): void;
}

const CHUNK = 65_536;
/** The event after which a session's stream ends. */
export const LAST_EVENT = 'complete';

/** Opens the transcript of the session in `dir`, live or long ended. A line that a crash tore is cut off before the next is written. */
export const openTranscript = (dir: string, clock: () => Date): Transcript => {
  const path = eventsFile(dir);
  const waiting = new Set<() => void>();
  let { seq, ended } = lastOf(path);
  let descriptor: number | undefined;

  const wake = (): void => {
    for (const each of waiting) each();
    waiting.clear();
  };
  const more = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  const follow = async function* (
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptEvent> {
    for (let offset = 0; !signal.aborted; ) {
      const { events, next } = readEvents(path, offset);
      offset = next;
      for (const event of events) {
        if (event.id > after) yield event;
      }
      if (events.length > 0) continue;
      if (ended) return;
      await more(signal);
    }
  };

  return {
    append: (event, data) => {
      descriptor ??= openForAppend(path);
      seq += 1;
      const line = JSON.stringify({ id: seq, event, data: { ...data, at: clock().toISOString() } });
      writeSync(descriptor, `${line}\n`);
      ended ||= event === LAST_EVENT;
      wake();
    },
    sync: () => {
      if (descriptor === undefined) return;
      fsyncSync(descriptor);
      closeSync(descriptor);
      descriptor = undefined;
    },
    follow,
    soFar: (after) => [...allEvents(path)].filter(({ id }) => id > after),
    end: () => {
      ended = true;
      wake();
    },
  };
};

const openForAppend = (path: string): number => {
  const descriptor = openSync(path, 'a+', 0o644);
  ftruncateSync(descriptor, wholeLines(descriptor));
  return descriptor;
};

const wholeLines = (descriptor: number): number => {
  let end = fstatSync(descriptor).size;
  const buffer = Buffer.alloc(CHUNK);
  while (end > 0) {
    const from = Math.max(0, end - CHUNK);
    const read = readSync(descriptor, buffer, 0, end - from, from);
    const newline = buffer.subarray(0, read).lastIndexOf(10);
    if (newline >= 0) return from + newline + 1;
    end = from;
  }
  return 0;
};

const allEvents = function* (path: string): Generator<TranscriptEvent> {
  for (let offset = 0; ; ) {
    const { events, next } = readEvents(path, offset);
    if (events.length === 0) return;
    yield* events;
    offset = next;
  }
};

const lastOf = (path: string): { seq: number; ended: boolean } => {
  let last: TranscriptEvent | undefined;
  for (const event of allEvents(path)) last = event;
  return { seq: last?.id ?? 0, ended: last?.event === LAST_EVENT };
};

/** The whole lines from `offset` on, about 64 KB of them. */
const readEvents = (path: string, offset: number): { events: TranscriptEvent[]; next: number } => {
  const bytes = readLines(path, offset);
  const lines = bytes.toString('utf8').split('\n').slice(0, -1);
  return { events: lines.flatMap(parseLine), next: offset + bytes.length };
};

const parseLine = (line: string): TranscriptEvent[] => {
  try {
    return [JSON.parse(line) as TranscriptEvent];
  } catch {
    return [];
  }
};

const readLines = (path: string, offset: number): Buffer => {
  const descriptor = openIfThere(path);
  if (descriptor === undefined) return Buffer.alloc(0);
  try {
    for (let size = CHUNK; ; size *= 4) {
      const buffer = Buffer.alloc(size);
      const read = readSync(descriptor, buffer, 0, size, offset);
      const end = buffer.subarray(0, read).lastIndexOf(10);
      if (end >= 0) return buffer.subarray(0, end + 1);
      if (read < size) return Buffer.alloc(0);
    }
  } finally {
    closeSync(descriptor);
  }
};

const openIfThere = (path: string): number | undefined => {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};
