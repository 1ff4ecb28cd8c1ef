import type { Delivery, DeliveryLine } from '../../../store/records/delivery.ts';
import type { WithStore } from '../../../store/store.ts';
import { readyToWrite } from '../../../store/store.ts';
import { readDeliveries } from '../../../store/webhooks/deliveries.ts';
import type { Scope } from '../../../store/webhooks/webhooks.ts';
import { invalidState, orNotFound } from '../../errors.ts';
import type { WithDispatcher } from './dispatcher.ts';
import { readWebhook } from './registrations.ts';

/**
 * What was and what is to be sent to a receiver: the newest 1000 attempts, then all that waits, read as it is asked for. Of
 * what waits, what comes before `after` may be left out.
 */
export const listDeliveries = async (
  service: WithDispatcher & WithStore,
  scope: Scope,
  webhookId: string,
  wish: Wish,
): Promise<AsyncIterable<Delivery>> => {
  await readWebhook(service, scope, webhookId);
  return deliveriesOf(service, webhookId, wish);
};

interface Wish {
  /** Which of those that were tried comes first. */
  order?: 'oldest' | 'newest';
  after?: string;
}

const deliveriesOf = async function* (
  { store, dispatcher }: WithDispatcher & WithStore,
  webhookId: string,
  { order, after }: Wish,
): AsyncGenerator<Delivery> {
  const tried = fromLines(readDeliveries(store.layout, webhookId));
  const oldest = [...tried.values()];
  yield* order === 'newest' ? oldest.toReversed() : oldest;
  for await (const { delivery_id, body } of dispatcher.waiting(webhookId, after))
    if (!tried.has(delivery_id)) yield untried(delivery_id, body);
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

const untried = (id: string, body: Delivery['body']): Delivery => ({
  id,
  event_type: body.event_type,
  status: 'waiting',
  next_attempt_at: null,
  attempts: [],
  body,
});

/** The lines of a log, folded into one record a delivery. What was delivered once stays delivered. */
const fromLines = (lines: readonly DeliveryLine[]): Map<string, Delivery> => {
  const deliveries = new Map<string, Delivery>();
  for (const { id, body, at, status, error, duration_ms, outcome, next_at } of lines) {
    const before = deliveries.get(id) ?? untried(id, body);
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

/** Sends a delivery once more, with the same id and body, and answers what came of it. */
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
  'The receiver answered 410, so this webhook is disabled. Remove `disabled: true` from its file, then try again.';
const WAITING = 'It was not sent yet: an earlier one comes first. Redeliver that one.';
