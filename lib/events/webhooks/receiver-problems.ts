import type { DeliveryLine } from '../../../store/records/delivery.ts';
import type { Store } from '../../../store/store.ts';
import { readDeliveries } from '../../../store/webhooks/deliveries.ts';
import {
  BACKLOG_CLOSED,
  RECEIVER_FAILING,
  type Registration,
  registrationFile,
} from '../../../store/webhooks/webhooks.ts';

/** The closed backlog of one receiver. */
export interface Closed {
  at: string;
  count: number;
  /** The times of the first and the last event. */
  from: string;
  to: string;
  /** Absent if the receiver was too far behind. */
  reason?: 'disabled';
}

/** The name under which the journal keeps the closed backlog of a receiver. */
export const backlogRecord = (id: string): string => `backlog ${id}`;

/** Reports the closed backlog of a receiver as a problem while closed deliveries are listed. */
export const reportClosed = (store: Store, registration: Registration): void => {
  const { id } = registration.matter;
  const closed = store.journal.told.get(backlogRecord(id)) as Closed | undefined;
  if (closed === undefined) return;
  if (!hasClosed(store, id)) {
    clearClosed(store, registration);
    dropClosed(store, id);
    return;
  }
  store.problems.set(ownerOf('backlog', registration), [
    {
      file: registrationFile(store, registration),
      code: BACKLOG_CLOSED,
      message: closedMessage(registration, closed),
    },
  ]);
};

const hasClosed = ({ layout }: Store, id: string): boolean => {
  const outcomes = new Map(readDeliveries(layout, id).map((line) => [line.id, line.outcome]));
  return [...outcomes.values()].includes('closed');
};

/** Clears the problem of a registration that is gone, or has no closed deliveries. */
export const clearClosed = ({ problems }: Store, registration: Registration): void =>
  problems.set(ownerOf('backlog', registration), []);

// The fifth attempt is made about three minutes after the first.
const FAILING_FROM = 5;

/** Reports a receiver that failed one delivery five times or more as a problem, until it accepts a delivery. */
export const reportFailing = (
  store: Store,
  registration: Registration,
  line: DeliveryLine,
): void => {
  if (line.outcome === 'delivered') clearFailing(store, registration);
  if (line.outcome === 'delivered' || line.attempt < FAILING_FROM) return;
  const message = failingMessage(registration, line);
  store.problems.set(ownerOf('failing', registration), [
    { file: registrationFile(store, registration), code: RECEIVER_FAILING, message },
  ]);
};

/** Clears the problem of a registration that is gone, disabled or changed. */
export const clearFailing = ({ problems }: Store, registration: Registration): void =>
  problems.set(ownerOf('failing', registration), []);

export const dropClosed = ({ journal, report }: Store, id: string): void => {
  if (!journal.told.has(backlogRecord(id))) return;
  journal
    .append({ told: { id: backlogRecord(id), state: null } })
    .catch((error) => report(error, 'removing the backlog record of a webhook'));
};

const ownerOf = (problem: 'backlog' | 'failing', { scope, matter }: Registration): string =>
  `${scope === undefined ? '' : `${scope}/`}${problem} ${matter.id}`;

/** The API path of a registration. */
export const registrationPath = ({ scope, matter }: Registration): string =>
  `${scope === undefined ? '' : `/cases/${scope}`}/webhooks/${matter.id}`;

const TOO_FAR_BEHIND =
  'it exceeded webhooks.retention_hours or webhooks.retention_mb. Later events are sent';
const DISABLED =
  'the webhook was disabled. Events are sent from the time that `disabled: true` is removed from its file';

const closedMessage = (registration: Registration, { count, from, to, reason }: Closed): string =>
  `The backlog of this receiver was closed: ${count} events from ${from} to ${to} were not sent, since ${reason === 'disabled' ? DISABLED : TOO_FAR_BEHIND}. List the closed deliveries with GET ${registrationPath(registration)}/deliveries, and redeliver what you need, or remove the registration`;

const failingMessage = (
  registration: Registration,
  { id: delivery, attempt, status, error, next_at }: DeliveryLine,
): string => {
  const why = error ?? `it responded with ${status}`;
  const next =
    next_at === null
      ? 'It is not retried'
      : `The next attempt is at ${next_at}, and later events wait`;
  return `This receiver did not accept a delivery in ${attempt} attempts, the last time: ${why}. ${next}. Send it now with POST ${registrationPath(registration)}/deliveries/${delivery}/redeliver, or remove the registration`;
};
