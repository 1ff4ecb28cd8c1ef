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

/** Whether the journal after this position exceeds `retention_mb`. */
export const isTooLong = (store: Store, position: number): boolean =>
  store.journal.behind(position) > webhookRetention(settingsOf(store)).retention_mb * MB;

/** Whether an event is older than `retention_hours`. */
export const isTooOld = (
  store: Store,
  { timestamp }: Pick<DeliveryLine['body'], 'timestamp'>,
): boolean => {
  const age = store.clock().getTime() - Date.parse(timestamp);
  return age > webhookRetention(settingsOf(store)).retention_hours * HOUR;
};

/** The closed backlog of one receiver. */
interface Closed {
  at: string;
  count: number;
  /** The times of the first and the last event. */
  from: string;
  to: string;
  /** Absent if the receiver was too far behind. */
  reason?: 'disabled';
}

interface Closing {
  /** The unsent events, up to the event `to` or beyond. */
  events: AsyncIterable<EventRecord & { delivery_id: string }>;
  to: number;
  /** Whether the registration was removed meanwhile. */
  isGone: () => boolean;
  reason?: Closed['reason'];
}

// The log lists 1000 lines: these, and the attempts of the delivery before them.
const LISTED = 990;

/**
 * Closes the backlog of a receiver: its events are only sent if the operator redelivers them. The newest 990 are listed
 * among the deliveries, and a problem reports their number. Idempotent.
 */
export const closeBacklog = async (
  store: Store,
  registration: Registration,
  { events, to, isGone, reason }: Closing,
): Promise<void> => {
  const { id } = registration.matter;
  const at = store.clock().toISOString();
  const newest: DeliveryLine[] = [];
  const closed: Closed = { at, count: 0, from: at, to: at, ...(reason && { reason }) };
  for await (const event of events) {
    if (event.seq > to) break;
    if (closed.count === 0) closed.from = event.body.timestamp;
    closed.count += 1;
    closed.to = event.body.timestamp;
    newest.push(lineOf(event, at));
    if (newest.length > 2 * LISTED) newest.splice(0, newest.length - LISTED);
  }
  if (isGone()) return;
  const cursor = { id, seq: to };
  // The record of an earlier backlog is kept.
  if (closed.count === 0) {
    await store.journal.append({ cursor });
    return;
  }
  appendDelivery(store.layout, id, ...newest.slice(-LISTED));
  // Synced before the journal records them as closed; otherwise a power cut could lose them unnoticed.
  await syncDeliveries(store.layout, id);
  await store.journal.append({ cursor, told: { id: nameOf(id), state: closed } });
  reportClosed(store, registration);
};

const lineOf = (
  { delivery_id, seq, body }: EventRecord & { delivery_id: string },
  at: string,
): DeliveryLine => ({
  id: delivery_id,
  seq,
  attempt: 0,
  at,
  status: null,
  error: null,
  duration_ms: 0,
  outcome: 'closed',
  next_at: null,
  body,
});

const nameOf = (id: string): string => `backlog ${id}`;

/** Reports the closed backlog of a receiver as a problem while closed deliveries are listed. */
export const reportClosed = (store: Store, registration: Registration): void => {
  const { id } = registration.matter;
  const closed = store.journal.told.get(nameOf(id)) as Closed | undefined;
  if (closed === undefined) return;
  if (!hasClosed(store, id)) {
    clearProblem(store, registration);
    dropClosed(store, id);
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

/** Clears the problem of a registration that is gone, or has no closed deliveries. */
export const clearProblem = ({ problems }: Store, registration: Registration): void =>
  problems.set(ownerOf(registration), []);

export const dropClosed = ({ journal, report }: Store, id: string): void => {
  if (!journal.told.has(nameOf(id))) return;
  journal
    .append({ told: { id: nameOf(id), state: null } })
    .catch((error) => report(error, 'removing the backlog record of a webhook'));
};

const ownerOf = ({ scope, matter }: Registration): string =>
  `${scope === undefined ? '' : `${scope}/`}backlog ${matter.id}`;

const fileOf = (store: Store, { scope, name }: Registration): string => {
  const above = scope === undefined ? undefined : itemOf(store, scope)?.dir;
  return `${above === undefined ? '' : `${above}/`}webhooks/${name}`;
};

const TOO_FAR_BEHIND =
  'it exceeded webhooks.retention_hours or webhooks.retention_mb. Later events are sent';
const DISABLED =
  'the webhook was disabled. Events are sent from the time that `disabled: true` is removed from its file';

const messageOf = (id: string, { count, from, to, reason }: Closed): string =>
  `The backlog of this receiver was closed: ${count} events from ${from} to ${to} were not sent, since ${reason === 'disabled' ? DISABLED : TOO_FAR_BEHIND}. List the closed deliveries with GET /webhooks/${id}/deliveries, and redeliver what you need, or remove the registration`;
