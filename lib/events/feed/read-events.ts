import type { EventBody, EventRecord } from '../../../store/records/event.ts';
import type { Store } from '../../../store/store.ts';

export interface FeedEvent {
  id: number;
  /** Empty: nothing happened, this is how far the reader got. */
  event: string;
  data: EventBody | Gap | undefined;
}

/** Stands where events are missing. */
interface Gap {
  event_type: 'gap';
  timestamp: string;
  payload: { reason: Reason; from: number; to: number; message: string };
}

type Reason = keyof typeof MESSAGES;

const MESSAGES = {
  not_kept:
    'These events are not kept any more. Read what you show anew; what follows is whole from here on.',
  not_readable:
    'No event with these numbers can be read: the journal was damaged, or the disk full. Read what you show anew.',
  other_journal:
    'The journal is another one than that of your position: it was removed, and its numbers begin anew. Read what you show anew.',
};

export type Batch = readonly FeedEvent[];

export const isGap = ({ event }: FeedEvent): boolean => event === 'gap';

const AT_ONCE = 64;

/** What is after this event, several at a time, to the end as it is when that is reached; a gap where some are missing. */
export const read = async function* (
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
    batch.push(asTold(event));
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

/** One for all who read it. */
export const asTold = (record: EventRecord): FeedEvent => {
  const ready = known.get(record);
  if (ready !== undefined) return ready;
  const { seq: id, body } = record;
  const told = { id, event: body.event_type, data: body };
  known.set(record, told);
  return told;
};
