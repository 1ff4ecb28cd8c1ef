import { removeDeliveries } from '../../../store/webhooks/deliveries.ts';
import { retireSecret } from '../../../store/webhooks/secrets.ts';
import {
  type Registration,
  recordRemoval,
  recordTrust,
  registrationsOf,
  type Scope,
  trustedPart,
} from '../../../store/webhooks/webhooks.ts';
import type { DeliveryDeps } from './attempt.ts';
import {
  closeDropped,
  dropQueue,
  openQueue,
  updateReceiver,
  wakeDeliveries,
} from './delivery-queue.ts';
import type { DeliveryQueue } from './pending-deliveries.ts';
import { clearClosed, clearFailing, dropClosed, reportClosed } from './receiver-problems.ts';

/** The queues of all receivers, by the id of their registration. */
export interface DeliveryQueues {
  readonly byId: ReadonlyMap<string, DeliveryQueue>;
  /** Opens, changes and stops queues after the registrations of a scope may have changed. */
  update(scope: Scope): void;
  /** At a start, reports what was closed for a disabled registration, and closes what a crash left. */
  resumeClosing(registration: Registration): void;
}

export const createQueues = (deps: DeliveryDeps): DeliveryQueues => {
  const doubles = trackDuplicates(deps);
  const index: QueueIndex = { deps, byId: new Map(), scopes: new Map(), met: new Map(), doubles };
  return {
    byId: index.byId,
    update: (scope) => updateScope(index, scope),
    resumeClosing: (registration) => resumeClosing(index, registration),
  };
};

interface QueueIndex {
  deps: DeliveryDeps;
  byId: Map<string, DeliveryQueue>;
  /** The ids of active registrations, by scope. */
  scopes: Map<Scope, string[]>;
  /** All registrations at the last update, by scope. */
  met: Map<Scope, Registration[]>;
  doubles: ReturnType<typeof trackDuplicates>;
}

const updateScope = (index: QueueIndex, scope: Scope): void => {
  const all = currentRegistrations(index, scope);
  const before = index.scopes.get(scope) ?? [];
  if (all.length === 0 && before.length === 0) return;
  const found = firstOfEach(all);
  const trusted = new Map([...found].map(([id, one]) => [id, trustedPart(one)]));
  const ours = [...trusted.values()]
    .filter(isActive)
    .filter((one) => openOrUpdate(index, one))
    .map(idOf);
  index.scopes.set(scope, ours);
  for (const id of before) if (!isActive(trusted.get(id))) closeQueue(index, id, found.has(id));
  for (const one of all) if (found.get(idOf(one)) !== one) index.doubles.tell(one);
  for (const id of ours) wakeDeliveries(index.byId.get(id) as DeliveryQueue);
};

/** The registrations of a scope now. Records their trust, and which of them were removed. */
const currentRegistrations = (
  { deps: { store }, met }: QueueIndex,
  scope: Scope,
): Registration[] => {
  const all = registrationsOf(store, scope);
  const ids = new Set(all.map(idOf));
  for (const one of met.get(scope) ?? []) {
    if (ids.has(idOf(one))) continue;
    recordRemoval(store, one);
    clearClosed(store, one);
  }
  if (all.length > 0) met.set(scope, all);
  else met.delete(scope);
  recordTrust(store, scope, all);
  return all;
};

/** Returns false if another registration has the same id. */
const openOrUpdate = ({ deps, byId, doubles }: QueueIndex, registration: Registration): boolean => {
  const id = idOf(registration);
  const queue = byId.get(id);
  if (queue === undefined) byId.set(id, openQueue(deps, registration));
  else if (queue.registration.scope === registration.scope) updateReceiver(queue, registration);
  else doubles.tell(registration);
  return byId.get(id)?.registration === registration;
};

const closeQueue = (index: QueueIndex, id: string, isDisabled: boolean): void => {
  const queue = index.byId.get(id);
  index.byId.delete(id);
  if (queue !== undefined) {
    dropQueue(queue);
    clearFailing(index.deps.store, queue.registration);
  }
  if (queue !== undefined && isDisabled) closeDisabled(index, queue);
  else removeReceiverState(index.deps, id);
  for (const scope of index.doubles.of(id)) updateScope(index, scope);
};

/** Closes what waits for a disabled registration, then removes its position: a crash in between repeats it. */
const closeDisabled = ({ deps, byId }: QueueIndex, queue: DeliveryQueue): void => {
  const { store } = deps;
  const { scope, matter } = queue.registration;
  // Once enabled again, the registration has a new queue, which continues at the same position.
  const isOthers = (): boolean => byId.has(matter.id) || store.readOnly !== undefined;
  const isGone = (): boolean =>
    registrationsOf(store, scope).every((one) => idOf(one) !== matter.id);
  closeDropped(queue, () => isOthers() || isGone())
    .then(() => isOthers() || removePosition(deps, matter.id))
    .catch((error) => store.report(error, `closing the backlog of webhook ${matter.id}`));
};

const resumeClosing = (index: QueueIndex, registration: Registration): void => {
  const { store } = index.deps;
  const id = idOf(registration);
  // Another registration has the same id, and its own backlog.
  if (index.byId.has(id)) return;
  reportClosed(store, registration);
  if (!store.journal.cursors.has(id)) return;
  const queue = openQueue(index.deps, registration);
  dropQueue(queue);
  closeDisabled(index, queue);
};

const idOf = ({ matter }: Registration): string => matter.id;

const isActive = (registration: Registration | undefined): registration is Registration =>
  registration !== undefined && registration.matter.disabled !== true;

const firstOfEach = (all: Registration[]): Map<string, Registration> =>
  new Map(all.toReversed().map((registration) => [idOf(registration), registration]));

/** Registrations whose id another one has. Each is logged once, and its scope is updated when the other one is gone. */
const trackDuplicates = ({ log }: DeliveryDeps) => {
  const known = new Map<string, Map<string, Scope>>();
  return {
    tell: (registration: Registration): void => {
      const { scope, name, vanished, matter } = registration;
      const same = known.get(matter.id) ?? new Map<string, Scope>();
      const file = `webhooks/${name}`;
      if (vanished || same.has(`${scope} ${file}`)) return;
      known.set(matter.id, same.set(`${scope} ${file}`, scope));
      log.warn({ webhook_id: matter.id, case_id: scope, file }, DUPLICATE_ID);
    },
    of: (id: string): Scope[] => {
      const same = [...(known.get(id)?.values() ?? [])];
      known.delete(id);
      return same;
    },
  };
};

const DUPLICATE_ID =
  'webhook ignored: another registration has the same id. Remove the id line from its file to register it separately';

/** Removes the position, the secret and the log of a registration that is gone. */
export const removeReceiverState = (deps: DeliveryDeps, id: string): void => {
  const { layout } = deps.store;
  removePosition(deps, id);
  dropClosed(deps.store, id);
  retireSecret(layout, id);
  removeDeliveries(layout, id);
};

const removePosition = ({ store, moved }: DeliveryDeps, id: string): void => {
  store.journal
    .append({ cursor: { id, seq: null } })
    .then(moved, (error) => store.report(error, 'removing the position of a webhook'));
};
