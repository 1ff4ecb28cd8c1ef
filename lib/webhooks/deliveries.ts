import { readDeliveries } from '../../store/deliveries.ts';
import type { Delivery, DeliveryLine } from '../../store/records/delivery.ts';
import { readyToWrite } from '../../store/store.ts';
import type { Scope } from '../../store/webhooks.ts';
import { notFound, ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { readWebhook } from './registrations.ts';

/** What was and what is to be sent to a receiver, oldest first: the newest 1000 attempts at least, and all that waits. */
export const listDeliveries = async (
  service: Service,
  scope: Scope,
  webhookId: string,
): Promise<Delivery[]> => {
  await readWebhook(service, scope, webhookId);
  return deliveriesOf(service, webhookId);
};

const deliveriesOf = ({ store, dispatcher }: Service, webhookId: string): Delivery[] => {
  const tried = fromLines(readDeliveries(store.layout, webhookId));
  const waiting = dispatcher
    .waiting(webhookId)
    .filter(({ delivery_id }) => !tried.has(delivery_id))
    .map(({ delivery_id, body }): Delivery => ({ ...untried(delivery_id, body) }));
  return [...tried.values(), ...waiting];
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
export const fromLines = (lines: readonly DeliveryLine[]): Map<string, Delivery> => {
  const deliveries = new Map<string, Delivery>();
  for (const { id, body, at, status, error, duration_ms, outcome, next_at } of lines) {
    const before = deliveries.get(id) ?? untried(id, body);
    deliveries.set(id, {
      ...before,
      status: before.status === 'delivered' ? before.status : outcome,
      next_attempt_at: next_at,
      attempts: [...before.attempts, { at, status, error, duration_ms }],
    });
  }
  return deliveries;
};

/** Sends a delivery once more, with the same id and body, and answers what came of it. */
export const redeliver = async (
  service: Service,
  scope: Scope,
  webhookId: string,
  id: string,
): Promise<Delivery> => {
  const { matter } = await readWebhook(service, scope, webhookId);
  const before = deliveriesOf(service, webhookId).find((one) => one.id === id);
  if (before === undefined) throw notFound('delivery', id);
  if (matter.disabled === true) throw new ServiceError('invalid_state', DISABLED);
  if (before.status === 'waiting') throw new ServiceError('invalid_state', WAITING);
  await readyToWrite(service.store);
  await service.dispatcher.redeliver(webhookId, id);
  return deliveriesOf(service, webhookId).find((one) => one.id === id) ?? before;
};

const DISABLED =
  'The receiver answered 410, so this webhook is disabled. Remove `disabled: true` from its file, then try again.';
const WAITING = 'It was not sent yet: an earlier one comes first. Redeliver that one.';
