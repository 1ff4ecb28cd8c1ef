import { isDeepStrictEqual } from 'node:util';
import type { DeliveryLine } from '../../../store/records/delivery.ts';
import type { EventRecord } from '../../../store/records/event.ts';
import { lastDelivery, readDeliveries } from '../../../store/webhooks/deliveries.ts';
import type { Registration } from '../../../store/webhooks/webhooks.ts';
import { attemptDelivery, type DeliveryDeps, endUnwanted, type Task } from './attempt.ts';
import { closeBacklog, isTooLong, isTooOld } from './backlog-limit.ts';
import {
  createCancellableDelay,
  type DeliveryQueue,
  idFor,
  pendingDeliveries,
  wants,
} from './pending-deliveries.ts';
import { clearFailing, reportClosed, reportFailing } from './receiver-problems.ts';
import { nothingSent } from './sending-thread.ts';

export const openQueue = (deps: DeliveryDeps, registration: Registration): DeliveryQueue => {
  const { journal } = deps.store;
  const cursor = journal.cursors.get(registration.matter.id);
  // A position beyond the last event belongs to an event that a full disk lost; its number is reused.
  const position = Math.min(cursor ?? journal.last, journal.last);
  const queue: DeliveryQueue = {
    deps,
    registration,
    position,
    saved: position,
    stopped: false,
    removed: false,
    running: undefined,
    failing: false,
    woken: false,
    alarm: createCancellableDelay(),
    sent: nothingSent(),
    hurried: [],
    listed: new Map(),
    former: cursor === undefined ? new Map() : undefined,
  };
  if (cursor !== position) savePosition(queue);
  reportClosed(deps.store, registration);
  const last = lastDelivery(deps.store.layout, registration.matter.id);
  if (last !== undefined && wants(registration, last.body))
    reportFailing(deps.store, registration, last);
  return queue;
};

/** Starts delivering from the queue's position; a running queue checks once more before it stops. */
export const wakeDeliveries = (queue: DeliveryQueue): void => {
  queue.woken = true;
  if (queue.stopped || queue.running !== undefined) return;
  queue.running = run(queue).catch((error) => {
    queue.running = undefined;
    queue.deps.store.report(error, `delivering to webhook ${queue.registration.matter.id}`);
  });
};

const run = async (queue: DeliveryQueue): Promise<void> => {
  while (queue.woken && !queue.stopped) {
    queue.woken = false;
    await deliverAll(queue);
  }
  queue.running = undefined;
  for (const done of queue.hurried.splice(0)) done();
  queue.deps.moved();
};

// The most deliveries that are repeated, with the same ids, after the daemon was killed.
const AT_ONCE = 64;

const deliverAll = async (queue: DeliveryQueue): Promise<void> => {
  const events = queue.deps.store.journal.after(queue.position);
  for await (const some of inChunks(events, AT_ONCE)) if (!(await deliverSome(queue, some))) return;
};

/** Groups an iterable into arrays of up to `most` values. */
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
  queue: DeliveryQueue,
  events: readonly EventRecord[],
): Promise<boolean> => {
  for (const [place, event] of events.entries()) {
    const wanted = wants(queue.registration, event.body) || isRetried(queue, event);
    if (
      wanted &&
      !(await deliverEvent(queue, event, () => nextTasks(queue, events.slice(place + 1))))
    )
      return false;
    queue.position = event.seq;
    if (!wanted) continue;
    savePosition(queue);
    queue.deps.moved();
  }
  return true;
};

const nextTasks = (queue: DeliveryQueue, events: readonly EventRecord[]): Task[] =>
  events
    .filter(({ body }) => wants(queue.registration, body))
    .map((event) => ({ id: idFor(queue, event), seq: event.seq, body: event.body, attempt: 0 }))
    .filter(({ id }) => !formerLines(queue).has(id));

// Not awaited, so that the next event does not wait for the disk: the log of attempts also shows what was delivered.
const savePosition = (queue: DeliveryQueue): void => {
  if (queue.removed) return;
  const { position, deps, registration } = queue;
  queue.saved = position;
  deps.store.journal
    .append({ cursor: { id: registration.matter.id, seq: position } })
    .catch((error) => deps.store.report(error, 'saving the position of a webhook'));
};

/** Delivers an event. Returns false if the queue was stopped, or its position moved meanwhile. */
const deliverEvent = async (
  queue: DeliveryQueue,
  event: EventRecord,
  coming: () => Task[],
): Promise<boolean> => {
  const { seq, body } = event;
  const id = idFor(queue, event);
  let line = formerLines(queue).get(id);
  if (line?.outcome === 'closed') return closeRest(queue);
  while (line === undefined || line.outcome === 'retrying') {
    // The result of a request that was already sent is logged in any case.
    const turn = queue.sent.answers.has(id) ? 'attempt' : await waitForTurn(queue, body, line);
    if (turn !== 'attempt') return turn === 'skip';
    line = await attempt(queue, { id, seq, body, attempt: line?.attempt ?? 0 }, coming);
    if (line === undefined) return false;
  }
  return true;
};

// What was tried before the registration stopped naming it: its record still says that it is retried.
const isRetried = (queue: DeliveryQueue, event: EventRecord): boolean =>
  formerLines(queue).get(idFor(queue, event))?.outcome === 'retrying';

/** Waits until the next attempt is due. The registration, which may change meanwhile, decides whether it is made. */
const waitForTurn = async (
  queue: DeliveryQueue,
  body: EventRecord['body'],
  line?: DeliveryLine,
): Promise<'attempt' | 'skip' | 'stop'> => {
  await untilDue(queue, line);
  if (queue.stopped) return 'stop';
  if (!wants(queue.registration, body)) {
    endUnwanted(queue.deps, queue.registration, line);
    return 'skip';
  }
  if (!isOverdue(queue, line)) return 'attempt';
  await close(queue);
  return 'stop';
};

const attempt = async (
  queue: DeliveryQueue,
  task: Task,
  coming: () => Task[],
): Promise<DeliveryLine | undefined> => {
  const line = await attemptDelivery(queue.deps, queue, task, { coming });
  queue.failing = line?.outcome !== 'delivered';
  for (const done of queue.hurried.splice(0)) done();
  return line;
};

// Age counts only after a first attempt, since the daemon itself may have been down.
const isOverdue = ({ deps: { store }, position }: DeliveryQueue, line?: DeliveryLine): boolean => {
  if (store.readOnly !== undefined) return false;
  return isTooLong(store, position) || (line !== undefined && isTooOld(store, line.body));
};

// The daemon died between logging the closed events and journaling the position: closes the same events again.
const closeRest = (queue: DeliveryQueue): Promise<false> => {
  const closed = [...formerLines(queue).values()].filter(({ outcome }) => outcome === 'closed');
  return close(queue, Math.max(...closed.map(({ seq }) => seq)));
};

const close = async (queue: DeliveryQueue, to = queue.deps.store.journal.last): Promise<false> => {
  const { store } = queue.deps;
  const isGone = (): boolean => queue.removed;
  await closeBacklog(store, queue.registration, { events: pendingDeliveries(queue), to, isGone });
  queue.position = to;
  queue.saved = to;
  queue.woken = true;
  // What follows may wait for long, and the closed events can go now.
  queue.deps.moved();
  return false;
};

/** Closes what waits in the dropped queue of a disabled registration: only a redelivery sends it. */
export const closeDropped = async (queue: DeliveryQueue, isGone: () => boolean): Promise<void> => {
  const { running, registration, deps } = queue;
  const to = deps.store.journal.last;
  // The last attempt settles its own delivery.
  await running;
  const events = unsettledDeliveries(queue);
  await closeBacklog(deps.store, registration, { events, to, isGone, reason: 'disabled' });
};

// After a crash the log of attempts is ahead of the position.
const unsettledDeliveries = async function* (queue: DeliveryQueue) {
  for await (const event of pendingDeliveries(queue)) {
    const { outcome = 'retrying' } = formerLines(queue).get(event.delivery_id) ?? {};
    if (outcome === 'retrying' || outcome === 'closed') yield event;
  }
};

/** Wakes a waiting queue whose backlog exceeds its limit, so that it is closed. */
export const limitBacklog = (queue: DeliveryQueue): void => {
  if (queue.running !== undefined && isTooLong(queue.deps.store, queue.position))
    queue.alarm.ring();
};

const formerLines = (queue: DeliveryQueue): Map<string, DeliveryLine> => {
  const { deps, registration, position } = queue;
  queue.former ??= new Map(
    readDeliveries(deps.store.layout, registration.matter.id)
      .filter(({ seq }) => seq > position)
      .map((line) => [line.id, line]),
  );
  return queue.former;
};

const READ_ONLY_MS = 1000;

const untilDue = (queue: DeliveryQueue, line: DeliveryLine | undefined): Promise<void> => {
  const { store } = queue.deps;
  return queue.alarm.wait(() => {
    if (queue.stopped || queue.hurried.length > 0) return 0;
    if (isOverdue(queue, line)) return 0;
    // Another daemon holds the workspace, and delivers.
    if (store.readOnly !== undefined) return READ_ONLY_MS;
    const isWanted = line === undefined || wants(queue.registration, line.body);
    return isWanted ? msUntilDue(line, store.clock()) : 0;
  });
};

// Once the clock was set back behind the last attempt, the time of the next one may be hours away.
const msUntilDue = (line: DeliveryLine | undefined, clock: Date): number => {
  const [at, due] = [line?.at, line?.next_at].map((time) => Date.parse(time ?? '') || 0);
  return clock.getTime() < (at ?? 0) ? 0 : (due ?? 0) - clock.getTime();
};

/** Makes the next attempt at once; resolves after it. */
export const deliverNow = (queue: DeliveryQueue): Promise<void> =>
  new Promise((resolve) => {
    if (queue.stopped) return resolve();
    queue.hurried.push(resolve);
    queue.alarm.ring();
    wakeDeliveries(queue);
  });

/** Replaces the registration of a queue. With another address or other events, a wait for the next attempt ends. */
export const updateReceiver = (queue: DeliveryQueue, registration: Registration): void => {
  const { matter: before } = queue.registration;
  queue.registration = registration;
  if (isDeepStrictEqual(registration.matter, before)) return;
  // What is sent ahead was chosen by the address and the events of before.
  queue.sent.cancel();
  clearFailing(queue.deps.store, registration);
  queue.alarm.ring();
};

/** Stops the queue. An attempt in progress may still end and be logged; then `running` resolves. */
export const stopQueue = (queue: DeliveryQueue): void => {
  queue.stopped = true;
  queue.sent.cancel();
  queue.alarm.ring();
  for (const done of queue.hurried.splice(0)) done();
};

/** Stops the queue of a registration that is gone or disabled. */
export const dropQueue = (queue: DeliveryQueue): void => {
  queue.removed = true;
  stopQueue(queue);
};

/** Saves a position that advanced past events that do not match; delivered events save theirs. */
export const saveQueue = (queue: DeliveryQueue): void => {
  if (queue.position > queue.saved) savePosition(queue);
};
