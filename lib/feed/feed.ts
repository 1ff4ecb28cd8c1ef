import type { EventBody, EventType } from '../../store/records/event.ts';
import type { Store } from '../../store/store.ts';
import { createWaitingRoom } from '../../store/waiting-room.ts';
import { type Batch, type FeedEvent, isGap, read } from './read.ts';

/** What a reader wants of all events; what it does not name it wants whatever it is. */
export interface Wish {
  types?: readonly EventType[] | undefined;
  case_id?: readonly string[] | undefined;
}

/** Every event of the workspace, for whoever follows: those that the journal still has, and what comes. */
export interface Feed {
  follow(wish: Wish): FeedSource;
}

export interface FeedSource {
  readonly json_first: true;
  newest(): number;
  open(after: number, signal: AbortSignal): Batches;
  soFar(after: number): Batches;
}

type Batches = AsyncGenerator<Batch>;
type Given = Pick<Store, 'journal' | 'clock'>;

/** A reader keeps a place in the journal, not the events: one that is slow costs nothing that grows. */
export const createFeed = (store: Given): Feed => {
  const { journal } = store;
  const room = createWaitingRoom();
  let newest = journal.last;
  let news = 0;
  journal.onEvents((events) => {
    newest = events.at(-1)?.seq ?? newest;
    news += 1;
    room.wake();
  });
  // Nothing can come between the looking and the waiting: both are in this turn of the loop.
  const wait = async (seen: number, signal: AbortSignal): Promise<void> =>
    news === seen ? room.wait(signal) : undefined;
  return {
    follow: (wish) => {
      const wanted = wantedBy(wish);
      return {
        json_first: true,
        newest: () => newest,
        soFar: async function* (after) {
          for await (const events of read(store, after)) yield* some(events.filter(wanted));
        },
        open: (after, signal) => live({ store, after, signal, wanted, news: () => news, wait }),
      };
    },
  };
};

const some = (events: Batch): Batch[] => (events.length > 0 ? [events] : []);

interface Live {
  store: Given;
  after: number;
  signal: AbortSignal;
  wanted: (event: FeedEvent) => boolean;
  /** Counts the times that something happened. */
  news: () => number;
  /** Resolves when something has happened since. */
  wait: (seen: number, signal: AbortSignal) => Promise<void>;
}

const live = async function* ({ store, after, signal, wanted, ...feed }: Live): Batches {
  let [at, sent] = [after, after];
  // The place to come back to, should the connection break before anything happens.
  yield [place(at)];
  while (!signal.aborted) {
    const seen = feed.news();
    for await (const events of read(store, at)) {
      at = events.at(-1)?.id ?? at;
      const mine = orPlace(events.filter(wanted), at, sent);
      if (mine.length === 0) continue;
      sent = at;
      yield mine;
    }
    await feed.wait(seen, signal);
  }
};

// A reader that wants little must not look at all of it again each time it comes back.
const orPlace = (mine: Batch, at: number, sent: number): Batch =>
  mine.length === 0 && at - sent >= FAR ? [place(at)] : mine;

const FAR = 256;

const place = (id: number): FeedEvent => ({ id, event: '', data: undefined });

const wantedBy = ({ types, case_id }: Wish): ((event: FeedEvent) => boolean) => {
  const [names, ids] = [types && new Set<string>(types), case_id && new Set(case_id)];
  return (event) => {
    if (isGap(event)) return true;
    const { event_type, payload } = event.data as EventBody;
    if (names?.has(event_type) === false) return false;
    return ids === undefined || ids.has(payload.case_id ?? '');
  };
};
