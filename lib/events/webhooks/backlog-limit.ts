import { itemOf } from '../../../store/reconcile/items.ts';
import { webhookRetention } from '../../../store/records/applied.ts';
import type { DeliveryLine } from '../../../store/records/delivery.ts';
import type { EventRecord } from '../../../store/records/event.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import type { Store } from '../../../store/store.ts';
import {
  appendDelivery,
  readDeliveries,
  syncDeliveries,
} from '../../../store/webhooks/deliveries.ts';
import { BACKLOG_CLOSED, type Registration } from '../../../store/webhooks/webhooks.ts';

const HOUR = 3_600_000;
const MB = 1_048_576;

/** Whether the events after this one take more of the disk than is kept for a receiver. */
export const isTooLong = (store: Store, position: number): boolean =>
  store.journal.behind(position) > webhookRetention(settingsOf(store)).retention_mb * MB;

/** Whether an event is older than is kept for a receiver. */
export const isTooOld = (
  store: Store,
  { timestamp }: Pick<DeliveryLine['body'], 'timestamp'>,
): boolean => {
  const age = store.clock().getTime() - Date.parse(timestamp);
  return age > webhookRetention(settingsOf(store)).retention_hours * HOUR;
};

/** What was closed for one receiver. */
interface Closed {
  at: string;
  count: number;
  /** The times of the first and the last event. */
  from: string;
  to: string;
}

interface Closing {
  /** What the receiver was not sent, up to the event `to` and more. */
  events: AsyncIterable<EventRecord & { delivery_id: string }>;
  to: number;
  /** The registration was removed meanwhile. */
  isGone: () => boolean;
}

const LISTED = 1000;

/**
 * Notes events as closed: they are sent only if the operator wants them redelivered. The newest 1000 are listed with the
 * deliveries of the receiver, and a problem says how many there were. Done again, it notes the same.
 */
export const closeBacklog = async (
  store: Store,
  registration: Registration,
  { events, to, isGone }: Closing,
): Promise<void> => {
  const { id } = registration.matter;
  const at = store.clock().toISOString();
  const newest: DeliveryLine[] = [];
  const closed: Closed = { at, count: 0, from: at, to: at };
  for await (const event of events) {
    if (event.seq > to) break;
    if (closed.count === 0) closed.from = event.body.timestamp;
    closed.count += 1;
    closed.to = event.body.timestamp;
    newest.push(lineOf(event, at));
    if (newest.length > 2 * LISTED) newest.splice(0, newest.length - LISTED);
  }
  if (isGone()) return;
  appendDelivery(store.layout, id, ...newest.slice(-LISTED));
  // Before the journal says that they are closed: what is in neither is lost without a word.
  await syncDeliveries(store.layout, id);
  await store.journal.append({
    cursor: { id, seq: to },
    told: { id: nameOf(id), state: closed },
  });
  lookAtClosed(store, registration);
};

const lineOf = (
  { delivery_id, seq, body }: EventRecord & { delivery_id: string },
  at: string,
): DeliveryLine => ({
  ...{ id: delivery_id, seq, attempt: 0, at, status: null, error: null, duration_ms: 0 },
  ...{ outcome: 'closed', next_at: null, body },
});

const nameOf = (id: string): string => `backlog ${id}`;

/** Tells that events of a receiver are closed, as long as there are some among its deliveries. */
export const lookAtClosed = (store: Store, registration: Registration): void => {
  const { id } = registration.matter;
  const closed = store.journal.told.get(nameOf(id)) as Closed | undefined;
  if (closed === undefined) return;
  if (!hasClosed(store, id)) {
    forgetClosed(store, registration);
    return;
  }
  store.problems.set(ownerOf(registration), [
    { file: fileOf(store, registration), code: BACKLOG_CLOSED, message: messageOf(id, closed) },
  ]);
};

const hasClosed = ({ layout }: Store, id: string): boolean => {
  const outcomes = new Map(readDeliveries(layout, id).map((line) => [line.id, line.outcome]));
  return [...outcomes.values()].includes('closed');
};

/** The registration is gone, or nothing of it is closed any more. */
export const forgetClosed = (store: Store, registration: Registration): void => {
  store.problems.set(ownerOf(registration), []);
  dropClosed(store, registration.matter.id);
};

export const dropClosed = ({ journal, report }: Store, id: string): void => {
  if (!journal.told.has(nameOf(id))) return;
  journal
    .append({ told: { id: nameOf(id), state: null } })
    .catch((error) => report(error, 'forgetting the backlog of a webhook'));
};

const ownerOf = ({ scope, matter }: Registration): string =>
  `${scope === undefined ? '' : `${scope}/`}backlog ${matter.id}`;

const fileOf = (store: Store, { scope, name }: Registration): string => {
  const above = scope === undefined ? undefined : itemOf(store, scope)?.dir;
  return `${above === undefined ? '' : `${above}/`}webhooks/${name}`;
};

const messageOf = (id: string, { count, from, to }: Closed): string =>
  `The backlog of this receiver was closed: ${count} events from ${from} to ${to} were not sent. It was behind more than webhooks.retention_hours or webhooks.retention_mb allows. Events since then are sent. List them (GET /webhooks/${id}/deliveries, those that are closed), and redeliver what is needed, or remove the registration`;
