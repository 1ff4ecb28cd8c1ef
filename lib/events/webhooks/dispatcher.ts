import { allItems, notice, whenChanged } from '../../../store/reconcile/items.ts';
import type { EventRecord } from '../../../store/records/event.ts';
import type { Store } from '../../../store/store.ts';
import { deliveryIds, readDeliveries } from '../../../store/webhooks/deliveries.ts';
import { allRegistrationsReadable, registrationsOf } from '../../../store/webhooks/webhooks.ts';
import { secretIds } from '../../../store/workspace/secrets.ts';
import type { Log } from '../../log.ts';
import { attemptDelivery, createSlots, type DeliveryDeps, RETRIES } from './attempt.ts';
import { isTooLong, lookAtClosed } from './backlog-limit.ts';
import {
  limitBacklog,
  saveQueue,
  sendAtOnce,
  stopQueue,
  wakeDeliveries,
} from './delivery-queue.ts';
import { createQueues, type DeliveryQueues, forgetReceiver } from './delivery-queues.ts';
import type { OwnUrl } from './own-address.ts';
import { waitingDeliveries } from './pending-deliveries.ts';
import { createSendingThread } from './sending-thread.ts';

/**
 * Brings every event of the journal to every receiver that asked for it: in order per receiver, at least once, from
 * where it was after a restart. A slow receiver holds back no other.
 */
export interface Dispatcher {
  /** Sends what former lives left, then what comes. */
  start(): void;
  /** The global registrations may be others now. Those of Work items are noticed through the store. */
  changed(): void;
  /** The events that a receiver has not got yet, oldest first, with their delivery ids; where it is known, from one on. */
  waiting(webhookId: string, from?: string): AsyncIterable<EventRecord & { delivery_id: string }>;
  /** Makes one attempt now and resolves after it; false when nothing is known of that delivery. */
  redeliver(webhookId: string, deliveryId: string): Promise<boolean>;
  /** Stops promptly; what was not delivered is delivered by the next life. */
  close(): Promise<void>;
}

interface DispatcherOptions {
  store: Store;
  log: Log;
  version: string;
  /** Milliseconds from one attempt to the next; another one for tests. */
  schedule?: readonly number[];
  clock?: () => Date;
  /** Where the daemon itself is, which is no receiver. */
  own?: OwnUrl;
}

const FIRST_IN_FLIGHT = 192;
const AGAIN_IN_FLIGHT = 64;

export const createDispatcher = (options: DispatcherOptions): Dispatcher => {
  const { store } = options;
  const sender = createSendingThread(options.own);
  const release = soon(() => releaseSettled(store, lanes));
  const desk: DeliveryDeps = {
    schedule: RETRIES,
    clock: store.clock,
    ...options,
    sender,
    userAgent: `Dossier/${options.version}`,
    slots: { first: createSlots(FIRST_IN_FLIGHT), again: createSlots(AGAIN_IN_FLIGHT) },
    moved: release,
    changed: () => {
      lanes.look(undefined);
      notice(store);
    },
  };
  const lanes = createQueues(desk);
  let live = false;
  let stopListening = (): void => undefined;
  return {
    start: () => {
      live = true;
      lookAtAll(desk, lanes);
      stopListening = whenChanged(store, lanes.look);
      store.journal.onEvents(() => {
        if (!live) return;
        for (const lane of lanes.byId.values()) wakeDeliveries(lane);
        release();
      });
      release();
    },
    changed: () => {
      if (live) desk.changed();
    },
    waiting: (webhookId, from) => waitingFor(lanes, webhookId, from),
    redeliver: (webhookId, id) => redeliver(desk, lanes, webhookId, id),
    close: async () => {
      live = false;
      stopListening();
      for (const lane of lanes.byId.values()) stopQueue(lane);
      await sender.close();
      await Promise.all([...lanes.byId.values()].map(({ running }) => running));
      for (const lane of lanes.byId.values()) saveQueue(lane);
    },
  };
};

// Many receivers move in one turn of the event loop: what none of them needs is looked for once.
const soon = (work: () => void): (() => void) => {
  let planned = false;
  return () => {
    if (planned) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      work();
    });
  };
};

// A registration that cannot be read has no lane, and is owed its events all the same, up to the same bound.
const releaseSettled = (store: Store, { byId }: DeliveryQueues): void => {
  const { journal } = store;
  let needed = journal.last;
  for (const lane of byId.values()) {
    limitBacklog(lane);
    needed = Math.min(needed, lane.position);
  }
  for (const [id, seq] of journal.cursors)
    if (!byId.has(id) && !isTooLong(store, seq)) needed = Math.min(needed, seq);
  journal.release(needed);
};

const lookAtAll = (desk: DeliveryDeps, lanes: DeliveryQueues): void => {
  lanes.look(undefined);
  for (const { id } of allItems(desk.store)) lanes.look(id);
  if (allRegistrationsReadable(desk.store)) forgetOrphans(desk);
};

/** What is left of registrations that were removed while no daemon ran. */
const forgetOrphans = (desk: DeliveryDeps): void => {
  const { store } = desk;
  const known = new Set<string>();
  for (const scope of [undefined, ...allItems(store).map(({ id }) => id)])
    for (const { matter } of registrationsOf(store, scope)) known.add(matter.id);
  const { cursors } = store.journal;
  const kept = [...cursors.keys(), ...secretIds(store.layout), ...deliveryIds(store.layout)];
  for (const id of new Set(kept)) if (!known.has(id)) forgetReceiver(desk, id);
};

const waitingFor = async function* ({ byId }: DeliveryQueues, webhookId: string, from?: string) {
  const lane = byId.get(webhookId);
  if (lane !== undefined) yield* waitingDeliveries(lane, from);
};

const redeliver = async (
  desk: DeliveryDeps,
  lanes: DeliveryQueues,
  webhookId: string,
  id: string,
): Promise<boolean> => {
  const lane = lanes.byId.get(webhookId);
  const line = readDeliveries(desk.store.layout, webhookId).findLast((one) => one.id === id);
  if (lane === undefined || line === undefined) return false;
  const { value: head } = await waitingDeliveries(lane).next();
  if (head?.delivery_id === id && lane.position < head.seq) await sendAtOnce(lane);
  // What is settled is tried once more, out of turn: its place in the order was long ago.
  else await attemptDelivery(desk, lane, line, { schedule: [] });
  lookAtClosed(desk.store, lane.registration);
  return true;
};

export interface WithDispatcher {
  readonly dispatcher: Dispatcher;
}
