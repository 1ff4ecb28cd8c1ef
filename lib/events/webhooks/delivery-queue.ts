import type { DeliveryLine } from '../../../store/records/delivery.ts';
import type { EventRecord } from '../../../store/records/event.ts';
import { readDeliveries } from '../../../store/webhooks/deliveries.ts';
import type { Registration } from '../../../store/webhooks/webhooks.ts';
import { attemptDelivery, type DeliveryDeps, type Task } from './attempt.ts';
import { closeBacklog, isTooLong, isTooOld, lookAtClosed } from './backlog-limit.ts';
import {
  createCancellableDelay,
  type DeliveryQueue,
  idFor,
  waitingDeliveries,
  wants,
} from './pending-deliveries.ts';
import { createAhead } from './sending-thread.ts';

export const openQueue = (desk: DeliveryDeps, registration: Registration): DeliveryQueue => {
  const { journal } = desk.store;
  const cursor = journal.cursors.get(registration.matter.id);
  // A position beyond the last event is one whose event a full disk did not take: its number is given again.
  const position = Math.min(cursor ?? journal.last, journal.last);
  const lane: DeliveryQueue = {
    desk,
    registration,
    position,
    saved: position,
    stopped: false,
    removed: false,
    running: undefined,
    failing: false,
    woken: false,
    alarm: createCancellableDelay(),
    ahead: createAhead(),
    hurried: [],
    listed: new Map(),
    former: cursor === undefined ? new Map() : undefined,
  };
  if (cursor !== position) savePosition(lane);
  lookAtClosed(desk.store, registration);
  return lane;
};

/** Goes on where it was. At work already, it looks once more before it rests. */
export const wakeDeliveries = (lane: DeliveryQueue): void => {
  lane.woken = true;
  if (lane.stopped || lane.running !== undefined) return;
  lane.running = run(lane).catch((error) => {
    lane.running = undefined;
    lane.desk.store.report(error, `delivering to webhook ${lane.registration.matter.id}`);
  });
};

const run = async (lane: DeliveryQueue): Promise<void> => {
  while (lane.woken && !lane.stopped) {
    lane.woken = false;
    await deliverAll(lane);
  }
  lane.running = undefined;
  for (const done of lane.hurried.splice(0)) done();
  lane.desk.moved();
};

// What a receiver may have got when the daemon is killed, and is sent again: with the ids it had.
const AT_ONCE = 64;

const deliverAll = async (lane: DeliveryQueue): Promise<void> => {
  const events = lane.desk.store.journal.after(lane.position);
  for await (const some of inChunks(events, AT_ONCE)) if (!(await deliverSome(lane, some))) return;
};

/** What an iterable gives, some at once: as many as there are now, up to `most`. */
const inChunks = async function* <T>(all: AsyncIterable<T>, most: number): AsyncGenerator<T[]> {
  let chunk: T[] = [];
  for await (const one of all) {
    chunk.push(one);
    if (chunk.length < most) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
};

const deliverSome = async (
  lane: DeliveryQueue,
  events: readonly EventRecord[],
): Promise<boolean> => {
  for (const [place, event] of events.entries()) {
    const wanted = wants(lane.registration, event.body);
    if (wanted && !(await settle(lane, event, () => comingOf(lane, events.slice(place + 1)))))
      return false;
    lane.position = event.seq;
    if (!wanted) continue;
    savePosition(lane);
    lane.desk.moved();
  }
  return true;
};

const comingOf = (lane: DeliveryQueue, events: readonly EventRecord[]): Task[] =>
  events
    .filter(({ body }) => wants(lane.registration, body))
    .map((event) => ({ id: idFor(lane, event), seq: event.seq, body: event.body, attempt: 0 }))
    .filter(({ id }) => !formerLines(lane).has(id));

// Not waited for: the log of attempts knows too what was delivered, and the next event need not wait for the disk.
const savePosition = (lane: DeliveryQueue): void => {
  if (lane.removed) return;
  const { position, desk, registration } = lane;
  lane.saved = position;
  desk.store.journal
    .append({ cursor: { id: registration.matter.id, seq: position } })
    .catch((error) => desk.store.report(error, 'noting how far a webhook got'));
};

/** False when the lane was stopped before it was clear what becomes of the event, or is elsewhere by now. */
const settle = async (
  lane: DeliveryQueue,
  event: EventRecord,
  coming: () => Task[],
): Promise<boolean> => {
  const { seq, body } = event;
  const id = idFor(lane, event);
  let line = formerLines(lane).get(id);
  if (line?.outcome === 'closed') return closeAgain(lane);
  while (line === undefined || line.outcome === 'retrying') {
    // What was sent already is noted, whatever has happened since.
    if (!lane.ahead.has(id) && !(await isInTurn(lane, line))) return false;
    line = await attempt(lane, { id, seq, body, attempt: line?.attempt ?? 0 }, coming);
    if (line === undefined) return false;
  }
  return true;
};

const isInTurn = async (lane: DeliveryQueue, line?: DeliveryLine): Promise<boolean> => {
  await untilDue(lane, line);
  if (lane.stopped) return false;
  return isOverdue(lane, line) ? close(lane) : true;
};

const attempt = async (
  lane: DeliveryQueue,
  task: Task,
  coming: () => Task[],
): Promise<DeliveryLine | undefined> => {
  const line = await attemptDelivery(lane.desk, lane, task, { coming });
  lane.failing = line?.outcome !== 'delivered';
  for (const done of lane.hurried.splice(0)) done();
  return line;
};

// A receiver that was not tried yet may have been kept waiting by a daemon that did not run: age alone says nothing of it.
const isOverdue = ({ desk: { store }, position }: DeliveryQueue, line?: DeliveryLine): boolean => {
  if (store.readOnly !== undefined) return false;
  return isTooLong(store, position) || (line !== undefined && isTooOld(store, line.body));
};

// A former life noted what it closed, and died before the journal had it: that much is closed, and what came later is sent.
const closeAgain = (lane: DeliveryQueue): Promise<false> => {
  const closed = [...formerLines(lane).values()].filter(({ outcome }) => outcome === 'closed');
  return close(lane, Math.max(...closed.map(({ seq }) => seq)));
};

const close = async (lane: DeliveryQueue, to = lane.desk.store.journal.last): Promise<false> => {
  const { store } = lane.desk;
  const isGone = (): boolean => lane.removed;
  await closeBacklog(store, lane.registration, { events: waitingDeliveries(lane), to, isGone });
  lane.position = to;
  lane.saved = to;
  lane.woken = true;
  return false;
};

/** Closes the backlog of a receiver that waits while too much has come in for it. */
export const limitBacklog = (lane: DeliveryQueue): void => {
  if (lane.running !== undefined && isTooLong(lane.desk.store, lane.position)) lane.alarm.ring();
};

const formerLines = (lane: DeliveryQueue): Map<string, DeliveryLine> => {
  const { desk, registration, position } = lane;
  lane.former ??= new Map(
    readDeliveries(desk.store.layout, registration.matter.id)
      .filter(({ seq }) => seq > position)
      .map((line) => [line.id, line]),
  );
  return lane.former;
};

const READ_ONLY_MS = 1000;

const untilDue = (lane: DeliveryQueue, line: DeliveryLine | undefined): Promise<void> => {
  const { store, clock } = lane.desk;
  const due = Date.parse(line?.next_at ?? '') || 0;
  return lane.alarm.wait(() => {
    if (lane.stopped || lane.hurried.length > 0) return 0;
    if (isOverdue(lane, line)) return 0;
    // Another daemon holds the workspace: the deliveries are its.
    return store.readOnly !== undefined ? READ_ONLY_MS : due - clock().getTime();
  });
};

/** Tries what is in turn now instead of when its time comes; resolves after that attempt. */
export const sendAtOnce = (lane: DeliveryQueue): Promise<void> =>
  new Promise((resolve) => {
    if (lane.stopped) return resolve();
    lane.hurried.push(resolve);
    lane.alarm.ring();
    wakeDeliveries(lane);
  });

/** The registration was changed. At another address it is tried at once. */
export const updateReceiver = (lane: DeliveryQueue, registration: Registration): void => {
  const moved = registration.matter.url !== lane.registration.matter.url;
  lane.registration = registration;
  if (!moved) return;
  lane.ahead.cancel();
  lane.alarm.ring();
};

/** Makes no further attempt. What is under way may still end and be noted: `lane.running` resolves then. */
export const stopQueue = (lane: DeliveryQueue): void => {
  lane.stopped = true;
  lane.ahead.cancel();
  lane.alarm.ring();
  for (const done of lane.hurried.splice(0)) done();
};

/** Ends the lane of a registration that is gone or disabled. */
export const dropQueue = (lane: DeliveryQueue): void => {
  lane.removed = true;
  stopQueue(lane);
};

/** Keeps how far it got past events that it did not want; those it got are kept already. */
export const saveQueue = (lane: DeliveryQueue): void => {
  if (lane.position > lane.saved) savePosition(lane);
};
