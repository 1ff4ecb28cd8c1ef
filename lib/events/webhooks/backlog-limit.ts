import { webhookRetention } from '../../../store/records/applied.ts';
import type { DeliveryLine } from '../../../store/records/delivery.ts';
import type { EventRecord } from '../../../store/records/event.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import type { Store } from '../../../store/store.ts';
import { appendDelivery, syncDeliveries } from '../../../store/webhooks/deliveries.ts';
import type { Registration } from '../../../store/webhooks/webhooks.ts';
import { backlogRecord, type Closed, reportClosed } from './receiver-problems.ts';

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
  await store.journal.append({ cursor, told: { id: backlogRecord(id), state: closed } });
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
