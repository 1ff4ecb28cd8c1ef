import { createWaitingRoom } from '../../../store/base/async.ts';
import type { EventBody, EventType } from '../../../store/records/event.ts';
import type { Store } from '../../../store/store.ts';
import { createLaps, type Laps } from './lap.ts';
import { type Batch, type FeedEvent, isGap, read } from './read.ts';

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
