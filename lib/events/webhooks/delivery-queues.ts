import { removeDeliveries } from '../../../store/webhooks/deliveries.ts';
import {
  noteRemoved,
  noteTrusted,
  type Registration,
  registrationsOf,
  type Scope,
  trustedPart,
} from '../../../store/webhooks/webhooks.ts';
import { retireSecret } from '../../../store/workspace/secrets.ts';
import type { DeliveryDeps } from './attempt.ts';
import { dropClosed, forgetClosed } from './backlog-limit.ts';
import { dropQueue, openQueue, updateReceiver, wakeDeliveries } from './delivery-queue.ts';
import type { DeliveryQueue } from './pending-deliveries.ts';

/** The lanes of all receivers, by the id of their registration. */
export interface DeliveryQueues {
  readonly byId: ReadonlyMap<string, DeliveryQueue>;
  /** The registrations of this scope may be others now: opens, changes and ends lanes. */
  look(scope: Scope): void;
}

export const createQueues = (desk: DeliveryDeps): DeliveryQueues => {
  const doubles = watchDoubles(desk);
  const book: Book = { desk, byId: new Map(), scopes: new Map(), met: new Map(), doubles };
  return { byId: book.byId, look: (scope) => look(book, scope) };
};

interface Book {
  desk: DeliveryDeps;
  byId: Map<string, DeliveryQueue>;
  /** The ids that have a lane, by where their registration is. */
  scopes: Map<Scope, string[]>;
  /** All registrations that were there, by where they are. */
  met: Map<Scope, Registration[]>;
  doubles: ReturnType<typeof watchDoubles>;
}

const look = (book: Book, scope: Scope): void => {
  const all = standing(book, scope);
  const before = book.scopes.get(scope) ?? [];
  if (all.length === 0 && before.length === 0) return;
  const found = firstOfEach(all);
  const trusted = new Map([...found].map(([id, one]) => [id, trustedPart(one)]));
  const ours = [...trusted.values()]
    .filter(isActive)
    .filter((one) => meet(book, one))
    .map(idOf);
  book.scopes.set(scope, ours);
  for (const id of before) if (!isActive(trusted.get(id))) drop(book, id, found.has(id));
  for (const one of all) if (found.get(idOf(one)) !== one) book.doubles.tell(one);
  for (const id of ours) wakeDeliveries(book.byId.get(id) as DeliveryQueue);
};

/** What is there now, and tells what is trusted of it, and what is not there any more. */
const standing = ({ desk: { store }, met }: Book, scope: Scope): Registration[] => {
  const all = registrationsOf(store, scope);
  const ids = new Set(all.map(idOf));
  for (const one of met.get(scope) ?? []) if (!ids.has(idOf(one))) noteRemoved(store, one);
  if (all.length > 0) met.set(scope, all);
  else met.delete(scope);
  noteTrusted(store, scope, all);
  return all;
};

/** False when the id belongs to a registration elsewhere. */
const meet = ({ desk, byId, doubles }: Book, registration: Registration): boolean => {
  const id = idOf(registration);
  const lane = byId.get(id);
  if (lane === undefined) byId.set(id, openQueue(desk, registration));
  else if (lane.registration.scope === registration.scope) updateReceiver(lane, registration);
  else doubles.tell(registration);
  return byId.get(id)?.registration === registration;
};

const drop = (book: Book, id: string, keepRecords: boolean): void => {
  const lane = book.byId.get(id);
  book.byId.delete(id);
  if (lane !== undefined) {
    dropQueue(lane);
    forgetClosed(book.desk.store, lane.registration);
  }
  forgetReceiver(book.desk, id, keepRecords);
  for (const scope of book.doubles.of(id)) look(book, scope);
};

const idOf = ({ matter }: Registration): string => matter.id;

const isActive = (registration: Registration | undefined): registration is Registration =>
  registration !== undefined && registration.matter.disabled !== true;

const firstOfEach = (all: Registration[]): Map<string, Registration> =>
  new Map(all.toReversed().map((registration) => [idOf(registration), registration]));

/** Registrations whose id another one has: told once, and looked at again when that one is gone. */
const watchDoubles = ({ log }: DeliveryDeps) => {
  const known = new Map<string, Map<string, Scope>>();
  return {
    tell: (registration: Registration): void => {
      const { scope, name, vanished, matter } = registration;
      const same = known.get(matter.id) ?? new Map<string, Scope>();
      const file = `webhooks/${name}`;
      if (vanished || same.has(`${scope} ${file}`)) return;
      known.set(matter.id, same.set(`${scope} ${file}`, scope));
      log.warn({ webhook_id: matter.id, case_id: scope, file }, DOUBLE);
    },
    of: (id: string): Scope[] => {
      const same = [...(known.get(id)?.values() ?? [])];
      known.delete(id);
      return same;
    },
  };
};

const DOUBLE =
  'Another webhook registration has the same id: this one gets nothing. Remove its id line to make it one of its own';

/** A registration is gone: so is how far it got and, unless it is only disabled, its secret and its log. */
export const forgetReceiver = (desk: DeliveryDeps, id: string, keepRecords = false): void => {
  const { layout, journal, report } = desk.store;
  journal
    .append({ cursor: { id, seq: null } })
    .then(desk.moved, (error) => report(error, 'forgetting a webhook'));
  dropClosed(desk.store, id);
  if (keepRecords) return;
  retireSecret(layout, id);
  removeDeliveries(layout, id);
};
