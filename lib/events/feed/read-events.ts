import type { EventBody, EventRecord } from '../../../store/records/event.ts';
import type { Store } from '../../../store/store.ts';

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
    'These events are no longer kept. Reload what you show; the events from here on are complete.',
  not_readable:
    'No event with these numbers can be read: the journal was damaged, or the disk was full. Reload what you show.',
  other_journal:
    'Your position is from another journal: the journal was removed, and its numbers began anew. Reload what you show.',
};

export type Batch = readonly FeedEvent[];

export const isGap = ({ event }: FeedEvent): boolean => event === 'gap';

const AT_ONCE = 64;

/** The events after `after`, in batches, up to the end of the journal, with a gap event for missing ones. */
export const readEvents = async function* (
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
export const asFeedEvent = (record: EventRecord): FeedEvent => {
  const ready = known.get(record);
  if (ready !== undefined) return ready;
  const { seq: id, body } = record;
  const told = { id, event: body.event_type, data: body };
  known.set(record, told);
  return told;
};
