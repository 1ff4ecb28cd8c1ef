import { setTimeout as delay } from 'node:timers/promises';
import type { DeliveryLine } from '../../../store/records/delivery.ts';
import { type EventBody, type EventRecord, isSent } from '../../../store/records/event.ts';
import type { Registration } from '../../../store/webhooks/webhooks.ts';
import { type DeliveryDeps, deliveryId } from './attempt.ts';
import type { Ahead } from './sending-thread.ts';

/** One receiver: its events go out one after the other, each until it is delivered or kept as failed. */
export interface DeliveryQueue {
  readonly desk: DeliveryDeps;
  registration: Registration;
  /** Every event up to this sequence number is settled, or not wanted. */
  position: number;
  /** The position on disk. */
  saved: number;
  stopped: boolean;
  /** The registration is gone: its position is of no use any more. */
  removed: boolean;
  running: Promise<void> | undefined;
  /** The last attempt failed: what comes next may let us wait as well. */
  failing: boolean;
  /** There may be more than `running` has seen. */
  woken: boolean;
  readonly alarm: CancellableDelay;
  readonly ahead: Ahead;
  /** Who waits for the attempt that comes next. */
  readonly hurried: (() => void)[];
  /** The numbers of events that were listed lately, by delivery id: a list goes on there. */
  readonly listed: Map<string, number>;
  /** What a former life noted beyond its position. Read when first needed. */
  former: Map<string, DeliveryLine> | undefined;
}

/** The id of the delivery of an event to this receiver. */
export const idFor = ({ registration }: DeliveryQueue, { id }: Pick<EventRecord, 'id'>): string =>
  deliveryId(id, registration.matter.id);

/** Of its Work item, where it has one, and of a type it names. */
export const wants = ({ scope, matter }: Registration, event: EventBody): boolean => {
  if (scope !== undefined && event.payload.case_id !== scope) return false;
  return isSent(matter.events, event.event_type);
};

/**
 * The events that wait, the one that is being tried among them; with their delivery ids. From one that was listed lately, if
 * it is known and waits.
 */
export const waitingDeliveries = async function* (
  lane: DeliveryQueue,
  from = '',
): AsyncGenerator<EventRecord & { delivery_id: string }> {
  const { desk, registration, position } = lane;
  const start = Math.max(position, (lane.listed.get(from) ?? 0) - 1);
  for await (const event of desk.store.journal.after(start)) {
    if (!wants(registration, event.body)) continue;
    const delivery_id = idFor(lane, event);
    noteListed(lane.listed, delivery_id, event.seq);
    yield { ...event, delivery_id };
  }
};

// The last of a page is among the newest two, and several may read.
const MOST_LISTED = 1000;

const noteListed = (listed: DeliveryQueue['listed'], id: string, seq: number): void => {
  listed.delete(id);
  listed.set(id, seq);
  const [oldest] = listed.keys();
  if (listed.size > MOST_LISTED && oldest !== undefined) listed.delete(oldest);
};

export interface CancellableDelay {
  /**
   * Resolves when `leftMs` says that nothing is left, or when it rings. Asked again every minute: a machine that sleeps
   * counts no time.
   */
  wait(leftMs: () => number): Promise<void>;
  /** Ends the wait now. */
  ring(): void;
}

const LOOK_MS = 60_000;

/** A wait that can be cut short. One at a time. */
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
