import { createNotifier } from '../../../store/base/async.ts';
import type { EventBody, EventRecord, EventType } from '../../../store/records/event.ts';
import type { Store } from '../../../store/store.ts';

/** The events that a reader subscribes to; undefined fields do not filter. */
export interface FeedFilter {
  types?: readonly EventType[] | undefined;
  case_id?: readonly string[] | undefined;
}

/** Streams of the workspace's events: those in the journal, then new ones. */
export interface Feed {
  follow(filter: FeedFilter): FeedSource;
}

interface FeedSource {
  readonly json_first: true;
  newest(): number;
  open(after: number, signal: AbortSignal): Batches;
  soFar(after: number): Batches;
}

type Batches = AsyncGenerator<Batch>;
type Given = Pick<Store, 'journal' | 'clock'>;

/** Readers keep a journal position, not events, so a slow reader costs no memory. */
export const createFeed = (store: Given): Feed => {
  const room = createNotifier();
  const buffer = createEventBuffer(store.journal, room.wake);
  return {
    follow: (filter) => {
      const [key, wanted] = [JSON.stringify(filter), matcherOf(filter)];
      return {
        json_first: true,
        newest: () => buffer.newest,
        soFar: async function* (after) {
          for await (const events of readEvents(store, after))
            yield* nonEmpty(events.filter(wanted));
        },
        open: (after, signal) => live({ store, buffer, room, after, signal, key, wanted }),
      };
    },
  };
};

const nonEmpty = (events: Batch): Batch[] => (events.length > 0 ? [events] : []);

interface Live {
  store: Given;
  buffer: EventBuffer;
  room: ReturnType<typeof createNotifier>;
  after: number;
  signal: AbortSignal;
  key: string;
  wanted: (event: FeedEvent) => boolean;
}

const live = async function* ({ buffer, room, after, signal, ...of }: Live): Batches {
  let [at, sent] = [after, after];
  // The position to resume from if the connection breaks before the first event.
  yield [positionOf(at)];
  while (!signal.aborted) {
    const seen = buffer.news;
    for await (const { events, to } of nextEvents(buffer, at, of)) {
      at = to;
      const matching = orPosition(events, at, sent);
      if (matching.length === 0) continue;
      sent = at;
      yield matching;
    }
    // Checked and awaited in one turn of the event loop, so no event falls in between.
    if (buffer.news === seen) await room.wait(signal);
  }
};

type ReaderOptions = Pick<Live, 'store' | 'key' | 'wanted'>;
type EventSlice = { events: Batch; to: number };

// A reader that is up to date gets the shared buffer; a slow one reads the journal.
const nextEvents = (
  buffer: EventBuffer,
  at: number,
  { store, key, wanted }: ReaderOptions,
): EventSlice[] | AsyncIterable<EventSlice> => {
  if (at === buffer.newest) return [];
  const last = buffer.after(at);
  return last === undefined
    ? readBehind(store, at, wanted)
    : [{ events: last.view(key, wanted), to: last.to }];
};

const readBehind = async function* (
  store: Given,
  at: number,
  wanted: Live['wanted'],
): AsyncGenerator<EventSlice> {
  for await (const events of readEvents(store, at))
    yield { events: events.filter(wanted), to: events.at(-1)?.id ?? at };
};

// A position now and then saves a reader with a narrow filter from scanning the same events after each reconnect.
const orPosition = (matching: Batch, at: number, sent: number): Batch =>
  matching.length === 0 && at - sent >= POSITION_INTERVAL ? [positionOf(at)] : matching;

const POSITION_INTERVAL = 256;

const positionOf = (id: number): FeedEvent => ({ id, event: '', data: undefined });

const matcherOf = ({ types, case_id }: FeedFilter): ((event: FeedEvent) => boolean) => {
  const [names, ids] = [types && new Set<string>(types), case_id && new Set(case_id)];
  return (event) => {
    if (isGap(event)) return true;
    const { event_type, payload } = event.data as EventBody;
    if (names?.has(event_type) === false) return false;
    return ids === undefined || ids.has(payload.case_id ?? '');
  };
};

/** The newest events, shared by all waiting readers: one list for each filter, so that it is made and encoded once. */
interface EventBuffer {
  readonly newest: number;
  /** Number of batches so far. */
  readonly news: number;
  /** The last batch, if it begins right after this event and is complete; undefined for a reader further behind. */
  after(at: number): BufferedEvents | undefined;
}

interface BufferedEvents {
  readonly from: number;
  readonly to: number;
  /** The events that match a filter, which `key` identifies. */
  view(key: string, wanted: (event: FeedEvent) => boolean): Batch;
}

/** Calls `wake` after each batch. Only the last batch is kept. */
export const createEventBuffer = (journal: Store['journal'], wake: () => void): EventBuffer => {
  let [newest, news] = [journal.last, 0];
  let records: EventRecord[] = [];
  let last: BufferedEvents | undefined;
  // Events that reached the disk together arrive in one turn of the event loop, line by line.
  const close = (from: number): void => {
    last = isWhole(records, from) ? bufferedEvents(from, records) : undefined;
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
    after: (at) => (at === last?.from ? last : undefined),
  };
};

const isWhole = (records: readonly EventRecord[], from: number): boolean =>
  records.every(({ seq }, n) => seq === from + n + 1);

const bufferedEvents = (from: number, records: readonly EventRecord[]): BufferedEvents => {
  const views = new Map<string, Batch>();
  return {
    from,
    to: records.at(-1)?.seq ?? 0,
    view: (key, wanted) => {
      const ready = views.get(key);
      if (ready !== undefined) return ready;
      const view = records.map(asFeedEvent).filter(wanted);
      views.set(key, view);
      return view;
    },
  };
};

export interface FeedEvent {
  id: number;
  /** Empty for a bare position. */
  event: string;
  data: EventBody | Gap | undefined;
}

/** Marks missing events. */
interface Gap {
  event_type: 'gap';
  timestamp: string;
  payload: { reason: Reason; from: number; to: number; message: string };
}

type Reason = keyof typeof MESSAGES;

const MESSAGES = {
  not_kept:
    'These events are no longer kept. Reload what you show. The events from here on are complete.',
  not_readable:
    'No event with these numbers can be read: the journal was damaged, or the disk was full. Reload what you show.',
  other_journal:
    'Your position is from another journal: the journal was removed and started again. Reload what you show.',
};

type Batch = readonly FeedEvent[];

const isGap = ({ event }: FeedEvent): boolean => event === 'gap';

const AT_ONCE = 64;

/** The events after `after`, in batches, up to the end of the journal, with a gap event for missing ones. */
const readEvents = async function* (
  { journal, clock }: Pick<Store, 'journal' | 'clock'>,
  after: number,
): AsyncGenerator<Batch> {
  let [at, batch] = [after, [] as FeedEvent[]];
  const gap = (reason: Reason, from: number, to: number, id = to): void => {
    batch.push({ id, event: 'gap', data: gapOf(clock(), { reason, from, to }) });
  };
  if (after > journal.last) {
    at = journal.oldest;
    gap('other_journal', at + 1, after, at);
  }
  for await (const event of journal.history(at)) {
    const { oldest } = journal;
    if (oldest > at) gap('not_kept', at + 1, oldest);
    at = Math.max(at, oldest);
    if (event.seq > at + 1) gap('not_readable', at + 1, event.seq - 1);
    at = event.seq;
    batch.push(asFeedEvent(event));
    if (batch.length < AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
};

const gapOf = (now: Date, { reason, ...range }: Omit<Gap['payload'], 'message'>): Gap => ({
  event_type: 'gap',
  timestamp: now.toISOString(),
  payload: { reason, ...range, message: MESSAGES[reason] },
});

const known = new WeakMap<EventRecord, FeedEvent>();

/** The feed event of a record, one object for all readers. */
const asFeedEvent = (record: EventRecord): FeedEvent => {
  const ready = known.get(record);
  if (ready !== undefined) return ready;
  const { seq: id, body } = record;
  const told = { id, event: body.event_type, data: body };
  known.set(record, told);
  return told;
};
