import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventRecord } from '../records/event.ts';
import type { JournalFile } from './journal-file.ts';
import { readPiece, type Segment } from './journal-segment.ts';

const IN_MEMORY = 1000;
const AT_ONCE = 64;
const SHORT = 16_777_216;

/** The newest events, in memory: all after `since`. */
export interface Recent {
  readonly events: EventRecord[];
  since: number;
  /** Adds events that are on disk. */
  add(events: readonly EventRecord[]): void;
}

export const createRecent = (): Recent => {
  const events: EventRecord[] = [];
  const recent: Recent = {
    events,
    since: 0,
    add: (more) => {
      for (const event of more) events.push(event);
      if (events.length <= 2 * IN_MEMORY) return;
      recent.since = events.splice(0, events.length - IN_MEMORY).at(-1)?.seq ?? recent.since;
    },
  };
  return recent;
};

/**
 * Events that some receiver has not got yet, and recent ones: all on disk, the newest in memory too. `damaged` is called once
 * for each file in which a read finds damage.
 */
export const createBacklog = (
  { segments, dropOldest }: JournalFile,
  recent: Recent,
  damaged: (file: string) => void,
) => {
  let released = 0;

  const inMemory = (seq: number): EventRecord[] => {
    if (seq < recent.since) return [];
    const first = firstAfter(recent.events, seq);
    return recent.events.slice(first, first + AT_ONCE);
  };

  const from = async function* (seq: number): AsyncGenerator<EventRecord> {
    let at = seq;
    for (let some = inMemory(at); some.length > 0; some = inMemory(at)) {
      yield* some;
      at = some.at(-1)?.seq ?? at;
    }
    if (at < recent.since) yield* onDisk(segments, at, note);
  };

  const note = (segment: Segment): void => {
    if (segment.told !== true) damaged(basename(segment.path));
    segment.told = true;
  };

  const isNeeded = ([oldest, next, ...others]: readonly Segment[]): boolean => {
    if (oldest === undefined || next === undefined) return true;
    const isOwed = next.after > Math.max(released, oldest.after);
    return isOwed || (others.length === 0 && next.after > oldest.after && oldest.end <= SHORT);
  };

  const tidy = (): void => {
    while (!isNeeded(segments)) dropOldest();
  };

  return {
    /**
     * Learns which events each file has. Call it before any read. `first`: the newest event before the last file; `state`:
     * the size in bytes of the state at the start of each file.
     */
    open: (first: number, state: number): void => {
      for (const segment of segments) segment.state = state;
      recent.since = Math.max(recent.since, first);
      learnStarts(segments, first);
      tidy();
    },
    /** The undelivered events after `seq`, oldest first. */
    after: (seq: number) => from(Math.max(seq, released)),
    /** The events after `seq` that still exist, delivered or not: at least the newest thousand. */
    history: from,
    /** Events up to this number are gone. */
    get oldest() {
      return segments[0]?.after ?? 0;
    },
    /** The approximate size in bytes of the events after `seq`, without the state; 0 if they are in memory. */
    behind: (seq: number): number => (seq < recent.since ? bytesAfter(segments, seq) : 0),
    /** Marks events up to `seq` as delivered to all. */
    release: (seq: number): void => {
      released = Math.max(released, seq);
      tidy();
    },
    /** Removes files without undelivered events, except for a short one before the newest. */
    tidy,
  };
};
export type Backlog = ReturnType<typeof createBacklog>;

const bytesAfter = (segments: readonly Segment[], seq: number): number => {
  const from = Math.max(
    0,
    segments.findLastIndex(({ after }) => after <= seq),
  );
  const sizes = segments.slice(from).map((one) => Math.max(0, one.end - eventsIn(one, seq)));
  return sizes.reduce((sum, size) => sum + size, 0);
};

/** The index of the first element after `seq`, in a list ordered by it. */
const firstAfter = (events: readonly { seq: number }[], seq: number): number => {
  let [from, to] = [0, events.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((events[middle]?.seq ?? 0) <= seq) from = middle + 1;
    else to = middle;
  }
  return from;
};

// Each file starts with that number. If it is damaged, the next file's is used, which only costs an extra read.
const learnStarts = (segments: readonly Segment[], first: number): void => {
  let after = first;
  for (const segment of segments.toReversed()) {
    if (segment !== segments.at(-1))
      after = startOf(segment) ?? (segment === segments[0] ? 0 : after);
    segment.after = after;
  }
};

const startOf = (segment: Segment): number | undefined => {
  const [line = '{}'] = readPiece(segment, 0).lines;
  return (JSON.parse(line) as { last?: number }).last;
};

// Yields to the event loop between pieces.
const onDisk = async function* (
  segments: readonly Segment[],
  seq: number,
  note: (damaged: Segment) => void,
): AsyncGenerator<EventRecord> {
  let segment = segments.findLast(({ after }) => after <= seq) ?? segments[0];
  while (segment !== undefined) {
    for (let at = startIn(segment, seq); at < segment.end; ) {
      await nextTurn();
      const { events, lost, next } = readEvents(segment, at);
      if (lost > 0) note(segment);
      at = next;
      learn(segment, { seq: events.at(-1)?.seq ?? 0, at });
      yield* events.slice(firstAfter(events, seq));
    }
    segment = nextTo(segments, segment);
  }
};

// By path: files may have been added and removed since the last piece.
const nextTo = (segments: readonly Segment[], { path }: Segment): Segment | undefined =>
  segments.find((segment) => segment.path > path);

// Known offsets save a reader of many pages from reading everything before each page.
const startIn = ({ places, head }: Segment, seq: number): number =>
  places[firstAfter(places, seq) - 1]?.at ?? head;

const eventsIn = (segment: Segment, seq: number): number =>
  Math.max(startIn(segment, seq), segment.state ?? 0);

const learn = ({ places }: Segment, place: Segment['places'][number]): void => {
  if (place.seq > (places.at(-1)?.seq ?? 0)) places.push(place);
};

const readEvents = (
  segment: Segment,
  from: number,
): { events: EventRecord[]; lost: number; next: number } => {
  const { lines, lost, next } = readPiece(segment, from);
  const events = lines
    .filter((line) => line.includes('"events":['))
    .flatMap((line) => (JSON.parse(line) as { events?: EventRecord[] }).events ?? []);
  return { events, lost, next };
};
