import type { Delivery, DeliveryLine } from '../../../store/records/delivery.ts';
import { readyToWrite, type WithStore } from '../../../store/store.ts';
import { readDeliveries } from '../../../store/webhooks/deliveries.ts';
import type { Scope } from '../../../store/webhooks/webhooks.ts';
import { invalidState, orNotFound } from '../../errors.ts';
import type { WithDispatcher } from './dispatcher.ts';
import { readWebhook } from './registrations.ts';

/**
 * The deliveries of a receiver: those of the newest 1000 attempts, then the pending ones, which are read while the list is
 * consumed. Pending deliveries before `after` may be left out.
 */
export const listDeliveries = async (
  service: WithDispatcher & WithStore,
  scope: Scope,
  webhookId: string,
  options: ListOptions,
): Promise<AsyncIterable<Delivery>> => {
  await readWebhook(service, scope, webhookId);
  return deliveriesOf(service, webhookId, options);
};

interface ListOptions {
  /** The order of the tried deliveries. */
  order?: 'oldest' | 'newest';
  after?: string;
}

const deliveriesOf = async function* (
  { store, dispatcher }: WithDispatcher & WithStore,
  webhookId: string,
  { order, after }: ListOptions,
): AsyncGenerator<Delivery> {
  const tried = foldLines(readDeliveries(store.layout, webhookId));
  const oldest = [...tried.values()];
  yield* order === 'newest' ? oldest.toReversed() : oldest;
  for await (const { delivery_id, body } of dispatcher.waiting(webhookId, after))
    if (!tried.has(delivery_id)) yield untriedDelivery(delivery_id, body);
};

const findDelivery = async (
  service: WithDispatcher & WithStore,
  webhookId: string,
  id: string,
): Promise<Delivery | undefined> => {
  for await (const delivery of deliveriesOf(service, webhookId, { after: id }))
    if (delivery.id === id) return delivery;
  return undefined;
};

const untriedDelivery = (id: string, body: Delivery['body']): Delivery => ({
  id,
  event_type: body.event_type,
  status: 'waiting',
  next_attempt_at: null,
  attempts: [],
  body,
});

/** Folds the lines of a log into one record per delivery. A delivery that succeeded once stays delivered. */
const foldLines = (lines: readonly DeliveryLine[]): Map<string, Delivery> => {
  const deliveries = new Map<string, Delivery>();
  for (const { id, body, at, status, error, duration_ms, outcome, next_at } of lines) {
    const before = deliveries.get(id) ?? untriedDelivery(id, body);
    deliveries.set(id, {
      ...before,
      status: before.status === 'delivered' ? before.status : outcome,
      next_attempt_at: next_at,
      attempts:
        outcome === 'closed'
          ? before.attempts
          : [...before.attempts, { at, status, error, duration_ms }],
    });
  }
  return deliveries;
};

/** Sends a delivery again, with the same id and body, and returns the result. */
export const redeliver = async (
  service: WithDispatcher & WithStore,
  scope: Scope,
  webhookId: string,
  id: string,
): Promise<Delivery> => {
  const { matter } = await readWebhook(service, scope, webhookId);
  const before = orNotFound(await findDelivery(service, webhookId, id), 'delivery', id);
  if (matter.disabled === true) throw invalidState(DISABLED);
  if (before.status === 'waiting') throw invalidState(WAITING);
  await readyToWrite(service.store);
  await service.dispatcher.redeliver(webhookId, id);
  return (await findDelivery(service, webhookId, id)) ?? before;
};

const DISABLED =
  'This webhook is disabled: `disabled: true` is in its file, by hand or since the receiver responded with 410 (Gone). Remove that line, then try again.';
const WAITING = 'The delivery was not sent yet: an earlier one is pending. Redeliver that one.';
