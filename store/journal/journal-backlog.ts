import type { EventRecord } from '../records/event.ts';
import type { JournalFile } from './journal-file.ts';
import { readPiece, type Segment } from './journal-segment.ts';

/** The events that somebody is owed: all of them on disk, the newest in memory too. */
export interface Backlog {
  /** Takes events that are on disk. */
  add(events: readonly EventRecord[]): void;
  /** Learns which events the files hold; before it, `after` is not to be asked. `first`: the newest before the last file. */
  open(first: number): Promise<void>;
  /** Those after this one, oldest first, up to the newest that there is. */
  after(seq: number): AsyncGenerator<EventRecord>;
  /** Nobody is owed any event up to this one. */
  release(seq: number): void;
  /** Removes the files that hold no event which somebody is owed. */
  tidy(): void;
}

const IN_MEMORY = 1000;
const AT_ONCE = 64;

export const createBacklog = ({ segments, dropOldest }: JournalFile): Backlog => {
  const events: EventRecord[] = [];
  /** Memory holds every event after this one that is not released. */
  let since = 0;
  let released = 0;

  const inMemory = (seq: number): EventRecord[] => {
    if (seq < since) return [];
    const first = firstAfter(events, seq);
    return events.slice(first, first + AT_ONCE);
  };

  const isNeeded = ([oldest, next]: readonly Segment[]): boolean =>
    oldest === undefined || next === undefined || next.after > Math.max(released, oldest.after);

  const tidy = (): void => {
    while (!isNeeded(segments)) dropOldest();
  };

  return {
    add: (more) => {
      for (const event of more) events.push(event);
      if (events.length <= 2 * IN_MEMORY) return;
      since = events.splice(0, events.length - IN_MEMORY).at(-1)?.seq ?? since;
    },
    open: async (first) => {
      since = Math.max(since, first);
      await learnStarts(segments, first);
      tidy();
    },
    after: async function* (seq) {
      let at = Math.max(seq, released);
      for (let some = inMemory(at); some.length > 0; some = inMemory(at)) {
        yield* some;
        at = some.at(-1)?.seq ?? at;
      }
      if (at < since) yield* onDisk(segments, at);
    },
    release: (seq) => {
      released = Math.max(released, seq);
      events.splice(0, firstAfter(events, released));
      tidy();
    },
    tidy,
  };
};

/** The place of the first event after `seq`, in events ordered by it. */
const firstAfter = (events: readonly EventRecord[], seq: number): number => {
  let [from, to] = [0, events.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((events[middle]?.seq ?? 0) <= seq) from = middle + 1;
    else to = middle;
  }
  return from;
};

// Each file begins with that number. Where it is damaged, the next file's will do: one is looked at that need not be.
const learnStarts = async (segments: readonly Segment[], first: number): Promise<void> => {
  let after = first;
  for (const segment of segments.toReversed()) {
    if (segment !== segments.at(-1)) after = (await startOf(segment)) ?? after;
    segment.after = segment === segments[0] ? 0 : after;
  }
};

const startOf = async (segment: Segment): Promise<number | undefined> => {
  const [line = '{}'] = (await readPiece(segment, 0)).lines;
  return (JSON.parse(line) as { last?: number }).last;
};

const onDisk = async function* (
  segments: readonly Segment[],
  seq: number,
): AsyncGenerator<EventRecord> {
  let segment = segments.findLast(({ after }) => after <= seq) ?? segments[0];
  while (segment !== undefined) {
    for (let at = 0; at < segment.end; ) {
      const { events, next } = await readEvents(segment, at, seq);
      yield* events;
      at = next;
    }
    segment = nextTo(segments, segment);
  }
};

// By its start: while events were brought to a receiver, files may have come and gone.
const nextTo = (segments: readonly Segment[], { path }: Segment): Segment | undefined =>
  segments.find((segment) => segment.path > path);

const readEvents = async (
  segment: Segment,
  from: number,
  seq: number,
): Promise<{ events: EventRecord[]; next: number }> => {
  const { lines, next } = await readPiece(segment, from);
  const events = lines
    .filter((line) => line.includes('"events":['))
    .flatMap((line) => (JSON.parse(line) as { events?: EventRecord[] }).events ?? [])
    .filter((event) => event.seq > seq);
  return { events, next };
};
