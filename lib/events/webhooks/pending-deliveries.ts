import { setTimeout as delay } from 'node:timers/promises';
import type { DeliveryLine } from '../../../store/records/delivery.ts';
import { type EventBody, type EventRecord, isSent } from '../../../store/records/event.ts';
import type { Registration } from '../../../store/webhooks/webhooks.ts';
import { type DeliveryDeps, deliveryId } from './attempt.ts';
import type { SendingRun } from './sending-thread.ts';

/** The queue of one receiver. Events are sent in order, each until it is delivered or has failed. */
export interface DeliveryQueue {
  readonly deps: DeliveryDeps;
  registration: Registration;
  /** Every event up to this sequence number is settled or does not match the registration. */
  position: number;
  /** The position on disk. */
  saved: number;
  stopped: boolean;
  /** The registration is gone, so the position is no longer saved. */
  removed: boolean;
  running: Promise<void> | undefined;
  /** The last attempt failed. */
  failing: boolean;
  /** There may be events that `running` has not seen. */
  woken: boolean;
  readonly alarm: CancellableDelay;
  /** The last batch: deliveries that the thread sends after the awaited one, without waiting for the daemon. */
  sent: SendingRun;
  /** Callbacks that wait for the next attempt, which is made at once. */
  readonly hurried: (() => void)[];
  /** Sequence numbers of recently listed deliveries, by id, to continue a list from there. */
  readonly listed: Map<string, number>;
  /** Log lines beyond the position, from before a crash. Read when first needed. */
  former: Map<string, DeliveryLine> | undefined;
}

/** The id of the delivery of an event to this receiver. */
export const idFor = ({ registration }: DeliveryQueue, { id }: Pick<EventRecord, 'id'>): string =>
  deliveryId(id, registration.matter.id);

/** Whether a registration matches an event, by Work item and event type. */
export const wants = (
  { scope, matter }: Registration,
  event: EventBody | DeliveryLine['body'],
): boolean => {
  if (scope !== undefined && event.payload.case_id !== scope) return false;
  return isSent(matter.events, event.event_type);
};

/**
 * The pending events with their delivery ids, including the one that is being tried; from delivery `from` on, if it was
 * listed recently and is still pending.
 */
export const pendingDeliveries = async function* (
  queue: DeliveryQueue,
  from = '',
): AsyncGenerator<EventRecord & { delivery_id: string }> {
  const { deps, registration, position } = queue;
  const start = Math.max(position, (queue.listed.get(from) ?? 0) - 1);
  for await (const event of deps.store.journal.after(start)) {
    if (!wants(registration, event.body)) continue;
    const delivery_id = idFor(queue, event);
    noteListed(queue.listed, delivery_id, event.seq);
    yield { ...event, delivery_id };
  }
};

// Enough for several clients that page through the list.
const MOST_LISTED = 1000;

const noteListed = (listed: DeliveryQueue['listed'], id: string, seq: number): void => {
  listed.delete(id);
  listed.set(id, seq);
  const [oldest] = listed.keys();
  if (listed.size > MOST_LISTED && oldest !== undefined) listed.delete(oldest);
};

interface CancellableDelay {
  /** Resolves once `leftMs` returns 0 or `ring` is called. Checks every minute, since timers stop while a machine sleeps. */
  wait(leftMs: () => number): Promise<void>;
  /** Ends the wait now. */
  ring(): void;
}

const LOOK_MS = 60_000;

/** A delay that can be ended early. It allows one waiter. */
export const createCancellableDelay = (): CancellableDelay => {
  let bell = new AbortController();
  return {
    wait: async (leftMs) => {
      bell = new AbortController();
      const { signal } = bell;
      for (let left = leftMs(); left > 0 && !signal.aborted; left = leftMs())
        await delay(Math.min(left, LOOK_MS), undefined, { signal }).catch(() => undefined);
    },
    ring: () => bell.abort(),
  };
};
