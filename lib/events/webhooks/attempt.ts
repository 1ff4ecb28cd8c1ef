import type { Slots } from '../../../store/base/async.ts';
import { idOfText } from '../../../store/base/names.ts';
import { jsonText } from '../../../store/base/visible.ts';
import type { DeliveryLine } from '../../../store/records/delivery.ts';
import type { Store } from '../../../store/store.ts';
import { appendDelivery } from '../../../store/webhooks/deliveries.ts';
import { secretOf } from '../../../store/webhooks/secrets.ts';
import { disableRegistration, type Registration } from '../../../store/webhooks/webhooks.ts';
import type { Log } from '../../log.ts';
import { reportFailing } from './receiver-problems.ts';
import { isAccepted } from './sender.ts';
import {
  type AttemptResult,
  type SendingRun,
  type SendingThread,
  takeAnswer,
  type WebhookRequest,
} from './sending-thread.ts';

/** The dependencies of a delivery. */
export interface DeliveryDeps {
  store: Store;
  log: Log;
  schedule: readonly number[];
  sender: SendingThread;
  userAgent: string;
  /** Separate slots for first attempts and for retries, so that failing receivers do not delay the others. */
  slots: { first: Slots; again: Slots };
  /** A queue advanced: events may be released. */
  moved: () => void;
  /** A global registration changed. */
  changed: () => void;
}

/** A delivery, with the number of attempts so far. */
export type Task = Pick<DeliveryLine, 'id' | 'seq' | 'body' | 'attempt'>;

/** The id of a delivery, derived from event and receiver, so that it is the same after a restart. */
export const deliveryId = (eventId: string, webhookId: string): string =>
  idOfText(`${eventId} ${webhookId}`);

/** The receiver as it is now: its registration may change or be removed while a delivery waits. */
interface Receiver {
  readonly registration: Registration;
  readonly stopped: boolean;
  readonly removed: boolean;
  readonly failing: boolean;
  sent: SendingRun;
}

interface AttemptOptions {
  schedule?: readonly number[];
  /** The next deliveries of the queue, to be sent right after this one unless the receiver fails. */
  coming?: () => Task[];
}

/** Makes one attempt and logs its outcome; undefined if it was stopped before the outcome was known. */
export const attemptDelivery = async (
  deps: DeliveryDeps,
  receiver: Receiver,
  task: Task,
  { schedule = deps.schedule, coming }: AttemptOptions = {},
): Promise<DeliveryLine | undefined> => {
  const isFirst = task.attempt === 0 && !receiver.failing;
  const slots = isFirst ? deps.slots.first : deps.slots.again;
  const others = coming && (() => (isFirst ? coming() : []));
  const sent = await slots(() => sendUnlessSent(deps, receiver, task, others));
  if (sent === undefined || receiver.removed) return undefined;
  const { to, ...answer } = sent;
  // The former address of a receiver that moved meanwhile does not disable it.
  const isGone = answer.status === GONE && to === receiver.registration.matter.url;
  const attempts = task.attempt + 1;
  const line = outcomeOf({ ...task, attempt: attempts }, answer, () =>
    isGone ? undefined : nextAttemptAt(schedule, attempts, deps.store.clock()),
  );
  logAttempt(deps, receiver.registration, line);
  reportFailing(deps.store, receiver.registration, line);
  if (isGone) await disable(deps, receiver.registration);
  return line;
};

const sendUnlessSent = async (
  deps: DeliveryDeps,
  receiver: Receiver,
  task: Task,
  others: (() => Task[]) | undefined,
): Promise<AttemptResult | undefined> => {
  const known = others && (await takeAnswer(receiver.sent, task.id));
  if (known !== undefined || receiver.stopped) return known;
  const secret = await secretFor(deps, receiver.registration.matter.id);
  const { url } = receiver.registration.matter;
  if (secret === undefined) return { ...NOT_SENT, to: url, at: deps.store.clock().toISOString() };
  const all = [task, ...(others?.() ?? [])];
  const sent = deps.sender.send(all.map((each) => requestOf(each, { ...deps, url, secret })));
  if (others !== undefined) receiver.sent = sent;
  return takeAnswer(sent, task.id);
};

const requestOf = (
  { id, body }: Task,
  {
    userAgent,
    url,
    secret,
  }: Pick<DeliveryDeps, 'userAgent'> & Pick<WebhookRequest, 'url' | 'secret'>,
): WebhookRequest => ({
  id,
  url,
  secret,
  body: jsonText(body),
  headers: {
    'content-type': 'application/json',
    'user-agent': userAgent,
    'X-Service-Event': body.event_type,
    'X-Service-Delivery': id,
  },
});

const NOT_SENT = { status: null, error: 'The secret cannot be read: see the log', duration_ms: 0 };

const secretFor = async (
  { store, log }: DeliveryDeps,
  webhook_id: string,
): Promise<string | undefined> => {
  try {
    const { secret, made } = await secretOf(store, webhook_id);
    if (made) log.info({ webhook_id }, `created a webhook secret: .dossier/secrets/${webhook_id}`);
    return secret;
  } catch (err) {
    log.error({ err, webhook_id }, 'reading a webhook secret failed; retrying');
    return undefined;
  }
};

const GONE = 410;

const outcomeOf = (
  { id, seq, body, attempt: attempts }: Task,
  answer: Omit<AttemptResult, 'to'>,
  next: () => Date | undefined,
): DeliveryLine => {
  const line = { id, seq, attempt: attempts, ...answer, next_at: null, body };
  if (isAccepted(answer)) return { ...line, outcome: 'delivered' };
  const again = next();
  if (again === undefined) return { ...line, outcome: 'failed' };
  return { ...line, outcome: 'retrying', next_at: again.toISOString() };
};

/** Ends a delivery whose event the registration no longer names. If it was tried, its log says why it ends. */
export const endUnwanted = (
  deps: DeliveryDeps,
  registration: Registration,
  line: DeliveryLine | undefined,
): void => {
  const at = deps.store.clock().toISOString();
  if (line !== undefined)
    logAttempt(deps, registration, { ...line, attempt: line.attempt + 1, at, ...UNWANTED });
};

const UNWANTED = {
  status: null,
  error: 'Not sent: the webhook no longer names this event',
  duration_ms: 0,
  outcome: 'failed',
  next_at: null,
} as const;

const logAttempt = (
  { store, log }: DeliveryDeps,
  { matter }: Registration,
  line: DeliveryLine,
): void => {
  const { id, attempt: attempts, status, error } = line;
  const details = { webhook_id: matter.id, delivery_id: id, attempts, status, error };
  if (line.outcome === 'failed')
    log.warn(details, 'webhook delivery failed; it can be redelivered');
  try {
    appendDelivery(store.layout, matter.id, line);
  } catch (err) {
    store.report(err, 'logging a webhook delivery');
  }
};

const disable = async (deps: DeliveryDeps, registration: Registration): Promise<void> => {
  const { store, log } = deps;
  const { id, url } = registration.matter;
  log.warn({ webhook_id: id, url }, 'webhook disabled: the receiver responded with 410');
  await disableRegistration(store, registration).catch((error) =>
    store.report(error, `disabling webhook ${id}`),
  );
  deps.changed();
};

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Milliseconds between a failed attempt and the next one. After the last, the delivery is kept as failed. */
export const RETRIES: readonly number[] = [
  SECOND,
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  HOUR,
  6 * HOUR,
  24 * HOUR,
];

const JITTER = 0.1;

/** The time of the next attempt after `attempt` attempts, with 10 % jitter; undefined if there is none. */
export const nextAttemptAt = (
  schedule: readonly number[],
  attempt: number,
  now: Date,
  random = Math.random(),
): Date | undefined => {
  const delay = schedule[attempt - 1];
  if (delay === undefined) return undefined;
  return new Date(now.getTime() + delay * (1 - JITTER + 2 * JITTER * random));
};
