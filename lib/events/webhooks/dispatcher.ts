import { createSlots } from '../../../store/base/async.ts';
import { allItems, notice, onItemChanged } from '../../../store/reconcile/items.ts';
import type { EventRecord } from '../../../store/records/event.ts';
import type { Store } from '../../../store/store.ts';
import { deliveryIds, readDeliveries } from '../../../store/webhooks/deliveries.ts';
import { secretIds } from '../../../store/webhooks/secrets.ts';
import { allRegistrationsReadable, registrationsOf } from '../../../store/webhooks/webhooks.ts';
import type { Log } from '../../log.ts';
import { attemptDelivery, type DeliveryDeps, RETRIES } from './attempt.ts';
import { isTooLong } from './backlog-limit.ts';
import {
  deliverNow,
  limitBacklog,
  saveQueue,
  stopQueue,
  wakeDeliveries,
} from './delivery-queue.ts';
import { createQueues, type DeliveryQueues, removeReceiverState } from './delivery-queues.ts';
import type { OwnUrl } from './own-address.ts';
import { pendingDeliveries } from './pending-deliveries.ts';
import { reportClosed } from './receiver-problems.ts';
import { createSendingThread } from './sending-thread.ts';

/**
 * Delivers the events of the journal to all matching receivers: in order for each receiver, at least once, across restarts.
 * A slow receiver does not delay the others.
 */
export interface Dispatcher {
  /** Starts with pending deliveries from before the start, then sends new events. */
  start(): void;
  /** Call after global registrations may have changed. Changes of other registrations are noticed through the store. */
  changed(): void;
  /** The pending events of a receiver, oldest first, with their delivery ids, from delivery `from` on if it is known. */
  waiting(webhookId: string, from?: string): AsyncIterable<EventRecord & { delivery_id: string }>;
  /** Makes one attempt now and resolves after it; false if the delivery is unknown. */
  redeliver(webhookId: string, deliveryId: string): Promise<boolean>;
  /** Stops promptly. The next start delivers what is pending. */
  close(): Promise<void>;
}

interface DispatcherOptions {
  store: Store;
  log: Log;
  version: string;
  /** Milliseconds from one attempt to the next; tests use shorter ones. */
  schedule?: readonly number[];
  /** The daemon's own address, to which nothing is sent. */
  own?: OwnUrl;
}

const FIRST_IN_FLIGHT = 192;
const AGAIN_IN_FLIGHT = 64;

export const createDispatcher = (options: DispatcherOptions): Dispatcher => {
  const { store } = options;
  const sender = createSendingThread(options.own);
  const release = oncePerTick(() => releaseSettled(store, queues));
  const deps: DeliveryDeps = {
    schedule: RETRIES,
    ...options,
    sender,
    userAgent: `Dossier/${options.version}`,
    slots: { first: createSlots(FIRST_IN_FLIGHT), again: createSlots(AGAIN_IN_FLIGHT) },
    moved: release,
    changed: () => {
      queues.update(undefined);
      notice(store);
    },
  };
  const queues = createQueues(deps);
  let live = false;
  let stopListening = (): void => undefined;
  return {
    start: () => {
      live = true;
      updateAll(deps, queues);
      stopListening = onItemChanged(store, queues.update);
      store.journal.onEvents(() => {
        if (!live) return;
        for (const queue of queues.byId.values()) wakeDeliveries(queue);
        release();
      });
      release();
    },
    changed: () => {
      if (live) deps.changed();
    },
    waiting: (webhookId, from) => waitingFor(queues, webhookId, from),
    redeliver: (webhookId, id) => redeliver(deps, queues, webhookId, id),
    close: async () => {
      live = false;
      stopListening();
      for (const queue of queues.byId.values()) stopQueue(queue);
      await sender.close();
      await Promise.all([...queues.byId.values()].map(({ running }) => running));
      for (const queue of queues.byId.values()) saveQueue(queue);
    },
  };
};

// Runs `work` once per turn of the event loop, however many queues advance in it.
const oncePerTick = (work: () => void): (() => void) => {
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

// Releases journaled events that no receiver needs. An unreadable registration has no queue, but its events are kept up to
// the same limit.
const releaseSettled = (store: Store, { byId }: DeliveryQueues): void => {
  const { journal } = store;
  let needed = journal.last;
  for (const queue of byId.values()) {
    limitBacklog(queue);
    needed = Math.min(needed, queue.position);
  }
  for (const [id, seq] of journal.cursors)
    if (!byId.has(id) && !isTooLong(store, seq)) needed = Math.min(needed, seq);
  journal.release(needed);
};

const updateAll = (deps: DeliveryDeps, queues: DeliveryQueues): void => {
  const scopes = [undefined, ...allItems(deps.store).map(({ id }) => id)];
  for (const scope of scopes) queues.update(scope);
  for (const one of scopes.flatMap((scope) => registrationsOf(deps.store, scope)))
    if (one.matter.disabled === true) queues.resumeClosing(one);
  if (allRegistrationsReadable(deps.store)) removeOrphans(deps);
};

/** Removes what is left of registrations that were removed while no daemon ran. */
const removeOrphans = (deps: DeliveryDeps): void => {
  const { store } = deps;
  const known = new Set<string>();
  for (const scope of [undefined, ...allItems(store).map(({ id }) => id)])
    for (const { matter } of registrationsOf(store, scope)) known.add(matter.id);
  const { cursors } = store.journal;
  const kept = [...cursors.keys(), ...secretIds(store.layout), ...deliveryIds(store.layout)];
  for (const id of new Set(kept)) if (!known.has(id)) removeReceiverState(deps, id);
};

const waitingFor = async function* ({ byId }: DeliveryQueues, webhookId: string, from?: string) {
  const queue = byId.get(webhookId);
  if (queue !== undefined) yield* pendingDeliveries(queue, from);
};

const redeliver = async (
  deps: DeliveryDeps,
  queues: DeliveryQueues,
  webhookId: string,
  id: string,
): Promise<boolean> => {
  const queue = queues.byId.get(webhookId);
  const line = readDeliveries(deps.store.layout, webhookId).findLast((one) => one.id === id);
  if (queue === undefined || line === undefined) return false;
  const { value: head } = await pendingDeliveries(queue).next();
  if (head?.delivery_id === id && queue.position < head.seq) await deliverNow(queue);
  // A settled delivery is repeated out of order.
  else await attemptDelivery(deps, queue, line, { schedule: [] });
  reportClosed(deps.store, queue.registration);
  return true;
};

export interface WithDispatcher {
  readonly dispatcher: Dispatcher;
}
