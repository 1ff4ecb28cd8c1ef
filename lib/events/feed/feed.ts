import { createWaitingRoom } from '../../../store/base/waiting-room.ts';
import type { EventBody, EventRecord, EventType } from '../../../store/records/event.ts';
import type { Store } from '../../../store/store.ts';
import { asTold, type Batch, type FeedEvent, isGap, read } from './read-events.ts';

/** What a reader wants of all events; what it does not name it wants whatever it is. */
export interface FeedFilter {
  types?: readonly EventType[] | undefined;
  case_id?: readonly string[] | undefined;
}

/** Every event of the workspace, for whoever follows: those that the journal still has, and what comes. */
export interface Feed {
  follow(wish: FeedFilter): FeedSource;
}

interface FeedSource {
  readonly json_first: true;
  newest(): number;
  open(after: number, signal: AbortSignal): Batches;
  soFar(after: number): Batches;
}

type Batches = AsyncGenerator<Batch>;
type Given = Pick<Store, 'journal' | 'clock'>;

/** A reader keeps a place in the journal, not the events: one that is slow costs nothing that grows. */
export const createFeed = (store: Given): Feed => {
  const room = createWaitingRoom();
  const laps = createLaps(store.journal, room.wake);
  // Nothing can come between the looking and the waiting: both are in this turn of the loop.
  const wait = async (seen: number, signal: AbortSignal): Promise<void> =>
    laps.news === seen ? room.wait(signal) : undefined;
  return {
    follow: (wish) => {
      const [key, wanted] = [JSON.stringify(wish), wantedBy(wish)];
      return {
        json_first: true,
        newest: () => laps.newest,
        soFar: async function* (after) {
          for await (const events of read(store, after)) yield* some(events.filter(wanted));
        },
        open: (after, signal) => live({ store, laps, after, signal, key, wanted, wait }),
      };
    },
  };
};

const some = (events: Batch): Batch[] => (events.length > 0 ? [events] : []);

interface Live {
  store: Given;
  laps: Laps;
  after: number;
  signal: AbortSignal;
  key: string;
  wanted: (event: FeedEvent) => boolean;
  /** Resolves when something has happened since. */
  wait: (seen: number, signal: AbortSignal) => Promise<void>;
}

const live = async function* ({ laps, after, signal, wait, ...of }: Live): Batches {
  let [at, sent] = [after, after];
  // The place to come back to, should the connection break before anything happens.
  yield [place(at)];
  while (!signal.aborted) {
    const seen = laps.news;
    for await (const { events, to } of next(laps, at, of)) {
      at = to;
      const mine = orPlace(events, at, sent);
      if (mine.length === 0) continue;
      sent = at;
      yield mine;
    }
    await wait(seen, signal);
  }
};

type Of = Pick<Live, 'store' | 'key' | 'wanted'>;
type Some = { events: Batch; to: number };

// Whoever waited has the same as all who did; whoever was slow reads at its own pace.
const next = (laps: Laps, at: number, { store, key, wanted }: Of): Some[] | AsyncIterable<Some> => {
  if (at === laps.newest) return [];
  const lap = laps.after(at);
  return lap === undefined
    ? behind(store, at, wanted)
    : [{ events: lap.view(key, wanted), to: lap.to }];
};

const behind = async function* (
  store: Given,
  at: number,
  wanted: Live['wanted'],
): AsyncGenerator<Some> {
  for await (const events of read(store, at))
    yield { events: events.filter(wanted), to: events.at(-1)?.id ?? at };
};

// A reader that wants little must not look at all of it again each time it comes back.
const orPlace = (mine: Batch, at: number, sent: number): Batch =>
  mine.length === 0 && at - sent >= FAR ? [place(at)] : mine;

const FAR = 256;

const place = (id: number): FeedEvent => ({ id, event: '', data: undefined });

const wantedBy = ({ types, case_id }: FeedFilter): ((event: FeedEvent) => boolean) => {
  const [names, ids] = [types && new Set<string>(types), case_id && new Set(case_id)];
  return (event) => {
    if (isGap(event)) return true;
    const { event_type, payload } = event.data as EventBody;
    if (names?.has(event_type) === false) return false;
    return ids === undefined || ids.has(payload.case_id ?? '');
  };
};

/** What came last, for all who wait for it: one list for each wish, so that it is made and encoded once for them all. */
export interface Laps {
  readonly newest: number;
  /** Counts the times that something happened. */
  readonly news: number;
  /** All that came after this event, if that is what came last and none is missing; whoever is further behind reads it. */
  after(at: number): Lap | undefined;
}

interface Lap {
  readonly from: number;
  readonly to: number;
  /** What of it fits a wish; `key` tells wishes apart. */
  view(key: string, wanted: (event: FeedEvent) => boolean): Batch;
}

/** `wake` is called when a lap is whole. Only the last is held. */
export const createLaps = (journal: Store['journal'], wake: () => void): Laps => {
  let [newest, news] = [journal.last, 0];
  let records: EventRecord[] = [];
  let lap: Lap | undefined;
  // What reached the disk together is told in one turn of the loop, line by line.
  const close = (from: number): void => {
    lap = isWhole(records, from) ? lapOf(from, records) : undefined;
    records = [];
    news += 1;
    wake();
  };
  journal.onEvents((events) => {
    const from = newest;
    if (records.length === 0) queueMicrotask(() => close(from));
    for (const event of events) records.push(event);
    newest = events.at(-1)?.seq ?? newest;
  });
  return {
    get newest() {
      return newest;
    },
    get news() {
      return news;
    },
    after: (at) => (at === lap?.from ? lap : undefined),
  };
};

const isWhole = (records: readonly EventRecord[], from: number): boolean =>
  records.every(({ seq }, n) => seq === from + n + 1);

const lapOf = (from: number, records: readonly EventRecord[]): Lap => {
  const views = new Map<string, Batch>();
  return {
    from,
    to: records.at(-1)?.seq ?? 0,
    view: (key, wanted) => {
      const ready = views.get(key);
      if (ready !== undefined) return ready;
      const view = records.map(asTold).filter(wanted);
      views.set(key, view);
      return view;
    },
  };
};
