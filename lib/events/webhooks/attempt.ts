import { jsonText } from '../../../store/base/json.ts';
import { idOfText } from '../../../store/base/names.ts';
import type { DeliveryLine } from '../../../store/records/delivery.ts';
import type { Store } from '../../../store/store.ts';
import { appendDelivery } from '../../../store/webhooks/deliveries.ts';
import { disableRegistration, type Registration } from '../../../store/webhooks/webhooks.ts';
import { secretOf } from '../../../store/workspace/secrets.ts';
import type { Log } from '../../log.ts';
import {
  type Ahead,
  createAhead,
  type Parcel,
  type SendingThread,
  type Sent,
} from './sending-thread.ts';

/** What every delivery is made with. */
export interface DeliveryDeps {
  store: Store;
  log: Log;
  clock: () => Date;
  schedule: readonly number[];
  sender: SendingThread;
  userAgent: string;
  /** First attempts of receivers that took the last, and all others: who lets us wait takes no slot from who does not. */
  slots: { first: Slots; again: Slots };
  /** A lane has moved on: events may be of no more use. */
  moved: () => void;
  /** A global registration was changed. */
  changed: () => void;
}

/** What is to be delivered, and how often that was tried. */
export type Task = Pick<DeliveryLine, 'id' | 'seq' | 'body' | 'attempt'>;

/** The same for an event and a receiver every time, also after a restart. */
export const deliveryId = (eventId: string, webhookId: string): string =>
  idOfText(`${eventId} ${webhookId}`);

/** Who it goes to, as it is now: the registration may change, or be gone, while a delivery waits. */
interface Receiver {
  readonly registration: Registration;
  readonly stopped: boolean;
  readonly removed: boolean;
  readonly failing: boolean;
  readonly ahead: Ahead;
}

interface Beside {
  schedule?: readonly number[];
  /** For one in its turn: what comes after it, to be sent without a wait if the receiver takes it, and is not known to fail. */
  coming?: () => Task[];
}

/** Tries once more and notes what came of it. Undefined when it was stopped before that was known. */
export const attemptDelivery = async (
  desk: DeliveryDeps,
  receiver: Receiver,
  task: Task,
  { schedule = desk.schedule, coming }: Beside = {},
): Promise<DeliveryLine | undefined> => {
  const isFirst = task.attempt === 0 && !receiver.failing;
  const slots = isFirst ? desk.slots.first : desk.slots.again;
  const ahead = coming === undefined ? createAhead() : receiver.ahead;
  const others = () => (isFirst ? (coming?.() ?? []) : []);
  const sent = await slots(() => takeOrSend(desk, { receiver, ahead }, task, others));
  if (sent === undefined || receiver.removed) return undefined;
  const attempts = task.attempt + 1;
  const line = judged({ ...task, attempt: attempts }, sent, () =>
    nextAttemptAt(schedule, attempts, desk.clock()),
  );
  note(desk, receiver.registration, line);
  if (line.status === GONE) await disable(desk, receiver.registration);
  return line;
};

const takeOrSend = async (
  desk: DeliveryDeps,
  { receiver, ahead }: { receiver: Receiver; ahead: Ahead },
  task: Task,
  others: () => Task[],
): Promise<Sent | undefined> => {
  const known = await ahead.take(task.id);
  if (known !== undefined || receiver.stopped) return known;
  const secret = await secretFor(desk, receiver.registration.matter.id);
  if (secret === undefined) return { ...NOT_SENT, at: desk.clock().toISOString() };
  const { url } = receiver.registration.matter;
  const parcels = [task, ...others()].map((each) => parcelOf(each, { ...desk, url, secret }));
  return ahead.send(desk.sender, parcels);
};

const parcelOf = (
  { id, body }: Task,
  { userAgent, url, secret }: Pick<DeliveryDeps, 'userAgent'> & Pick<Parcel, 'url' | 'secret'>,
): Parcel => ({
  ...{ id, url, secret, body: jsonText(body) },
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
    if (made) log.info({ webhook_id }, `A secret was made: .dossier/secrets/${webhook_id}`);
    return secret;
  } catch (err) {
    log.error({ err, webhook_id }, 'The secret of a webhook cannot be read; it is tried again');
    return undefined;
  }
};

const GONE = 410;

const judged = (
  { id, seq, body, attempt: attempts }: Task,
  sent: Sent,
  next: () => Date | undefined,
): DeliveryLine => {
  const { status } = sent;
  const line = { id, seq, attempt: attempts, ...sent, next_at: null, body };
  if (status !== null && status >= 200 && status < 300) return { ...line, outcome: 'delivered' };
  const again = status === GONE ? undefined : next();
  if (again === undefined) return { ...line, outcome: 'failed' };
  return { ...line, outcome: 'retrying', next_at: again.toISOString() };
};

const note = ({ store, log }: DeliveryDeps, { matter }: Registration, line: DeliveryLine): void => {
  const { id, attempt: attempts, status, error } = line;
  const details = { webhook_id: matter.id, delivery_id: id, attempts, status, error };
  if (line.outcome === 'failed') log.warn(details, 'A webhook was not delivered; it is kept');
  try {
    appendDelivery(store.layout, matter.id, line);
  } catch (err) {
    store.report(err, 'noting a webhook delivery');
  }
};

const disable = async (desk: DeliveryDeps, registration: Registration): Promise<void> => {
  const { store, log } = desk;
  const { id, url } = registration.matter;
  log.warn({ webhook_id: id, url }, 'The receiver answered 410: its webhook is disabled');
  await disableRegistration(store, registration).catch((error) =>
    store.report(error, `disabling webhook ${id}`),
  );
  desk.changed();
};

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long after each attempt that failed the next one comes, in milliseconds; after the last it is kept as failed. */
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

/** When to try again after `attempt` attempts; undefined: no more. A tenth more or less, so that not all come at once. */
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

export type Slots = <T>(work: () => Promise<T>) => Promise<T>;

/** At most `count` of what is given run at once; the others wait, first come first served. */
export const createSlots = (count: number): Slots => {
  const waiting: (() => void)[] = [];
  let free = count;
  const enter = async (): Promise<void> => {
    if (free === 0) return new Promise((resolve) => waiting.push(resolve));
    free -= 1;
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async (work) => {
    await enter();
    try {
      return await work();
    } finally {
      leave();
    }
  };
};
