import { join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { type LockKey, lockOn } from '../base/locks.ts';
import { etagOf } from '../base/names.ts';
import { sha256 } from '../base/sha256.ts';
import { isInGrace, type ReadEntry } from '../front-matter/entry.ts';
import { fileProblem } from '../front-matter/problem.ts';
import { editRecord } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { createFile, removeFile, syncMade } from '../fs/durable.ts';
import { statsAt } from '../fs/plain-path.ts';
import { evenIfPlaced } from '../fs/synced.ts';
import { webhooksDir } from '../layout.ts';
import type { Item } from '../reconcile/item.ts';
import { allItems, announce, itemOf, pathOfItem, touch } from '../reconcile/items.ts';
import { reconcileInTurn, reconcileWritten } from '../reconcile/reconcile.ts';
import type { WaitingValue } from '../records/trust.ts';
import type { WebhookMatter } from '../records/webhook.ts';
import { bookOf, globalWebhooks, refreshWebhooks, trustValues } from '../settings/globals.ts';
import type { WebhookFile } from '../settings/read-webhooks.ts';
import type { WaitingPart } from '../settings/trust/effective.ts';
import { type Book, logVerdicts } from '../settings/trust/trust-log.ts';
import { TRUST_NEEDED, waitingValue, waitsForTrust } from '../settings/trust/waiting.ts';
import {
  removedVerdict,
  type Trusting,
  trustKeyOf,
  trustValueOf,
  waitingWebhook,
  webhookVerdict,
} from '../settings/trust/webhook.ts';
import { readyToWrite, type Store } from '../store.ts';
import { dropSecret, keepSecret, retireSecret, secretIds } from '../workspace/secrets.ts';

/** Whose registrations: those of one Work item, or, with undefined, those for the whole workspace. */
export type Scope = string | undefined;

export interface Registration {
  scope: Scope;
  /** Its file's name. */
  name: string;
  etag: string;
  matter: WebhookMatter;
  /** When its file was. */
  written_at: number;
  /** The file was there a moment ago and is not. */
  vanished: boolean;
  /** What waits for the operator's word: the address and events that the file has now. */
  waiting?: WaitingPart;
}

/** The registrations as last read, oldest first. A file that just vanished counts for the grace period, and comes last. */
export const registrationsOf = (store: Store, scope: Scope): Registration[] => {
  const entries = entriesOf(store, scope);
  if (entries === undefined || entries.size === 0) return [];
  return [...entries]
    .filter(([, { gone_at }]) => gone_at === undefined || isInGrace(gone_at))
    .flatMap(([name, entry]) => registration(scope, name, entry) ?? [])
    .map((one) => withTrust(bookOf(store), one))
    .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
};

const registration = (
  scope: Scope,
  name: string,
  { value, sha, written_at, gone_at }: ReadEntry<WebhookFile>,
): Registration | undefined =>
  value && {
    scope,
    name,
    etag: etagOf(sha),
    matter: value.matter,
    written_at,
    vanished: gone_at !== undefined,
  };

const withTrust = (book: Book, registration: Registration): Registration => {
  const waiting = waitingWebhook(book, registration);
  return waiting === undefined ? registration : { ...registration, waiting };
};

/** All registrations that wait for the operator's word, wherever they are. */
export const waitingRegistrations = (store: Store): WaitingValue[] =>
  [undefined, ...allItems(store).map(({ id }) => id)].flatMap((scope) =>
    registrationsOf(store, scope).flatMap((one) => {
      const { waiting, written_at } = one;
      if (waiting === undefined || one.vanished) return [];
      return waitingValue(waiting, { kind: 'webhook', file: fileOf(store, one), written_at });
    }),
  );

/** Its file, relative to the workspace. */
const fileOf = (store: Store, { scope, name }: Registration): string =>
  [scope === undefined ? [] : itemOf(store, scope)?.dir, 'webhooks', name].flat().join('/');

/**
 * A registration as the operator has trusted it: with the address and events that held last while others wait, and none
 * at all where nothing was trusted yet.
 */
export const trustedPart = (registration: Registration): Registration | undefined => {
  const { waiting, matter } = registration;
  if (waiting === undefined) return registration;
  const held = waiting.trusted_value as Pick<WebhookMatter, 'url' | 'events'> | undefined;
  if (held === undefined) return undefined;
  const { events: _events, ...rest } = matter;
  return { ...registration, matter: { ...rest, ...held } };
};

/**
 * Notes what of a scope's registrations holds, for it was narrowed or is trusted as it stands; and tells as a problem what
 * waits.
 */
export const noteTrusted = (store: Store, scope: Scope, all: Registration[]): void => {
  const book = bookOf(store);
  const verdicts = all.map((one) => webhookVerdict(book, one));
  logVerdicts(book, verdicts);
  const waiting = all.filter((one) => one.waiting !== undefined && !one.vanished);
  store.problems.set(
    `trust ${scope}`,
    waiting.map((one) =>
      fileProblem(fileOf(store, one), waitsForTrust(store.layout, ['This receiver'])),
    ),
  );
};

/** A registration was removed: whoever brings its name back with another address does not go on where it was. */
export const noteRemoved = (store: Store, gone: Registration): void =>
  logVerdicts(bookOf(store), [removedVerdict(bookOf(store), gone)]);

const orderOf = ({ vanished, name, matter: { created_at, id } }: Registration): string =>
  [vanished, created_at, id, name].join(' ');

/** The same, as they are on disk this moment. Undefined when there is no such Work item. */
export const readRegistrations = async (
  store: Store,
  scope: Scope,
): Promise<Registration[] | undefined> =>
  changing(store, scope, async () =>
    registrationsOf(store, scope).filter(({ vanished }) => !vanished),
  );

/** Makes a registration: first its secret, so that nothing is ever sent unsigned. Undefined when there is no such Work item. */
export const createRegistration = (
  store: Store,
  scope: Scope,
  { matter, secret }: { matter: WebhookMatter; secret: string },
): Promise<Registration | undefined> =>
  changing(store, scope, async (dir) => {
    await readyToWrite(store);
    // A call that is made again: nobody was shown the first secret.
    if (secretIds(store.layout).includes(matter.id)) retireSecret(store.layout, matter.id);
    const text = renderFrontMatter({ ...matter }, scope === undefined ? NOTE : CASE_NOTE);
    const name = `${matter.id}.md`;
    const path = join(dir, name);
    const made = unlessMade(store, matter.id, path, async () => {
      await keepSecret(store.layout, matter.id, secret);
      trustWebhook(store, { scope, matter });
      if (!(await createFile(store.layout, path, text))) await syncMade(dir);
    });
    await evenIfPlaced(made, () => lookWritten(store, scope));
    const found = registrationsOf(store, scope).find((one) => one.matter.id === matter.id);
    // While its folder cannot be read, what was written is what is known of it.
    const etag = etagOf(sha256(text));
    return found ?? { scope, name, etag, matter, written_at: Date.now(), vanished: false };
  });

// A secret without a registration would stay until the next start.
const unlessMade = (
  { layout }: Store,
  id: string,
  path: string,
  make: () => Promise<void>,
): Promise<void> =>
  make().catch((error: unknown) => {
    if (orElse(() => statsAt(path) === undefined, false)) dropSecret(layout, id);
    throw error;
  });

// Before the file is there: whoever looks at it meets a registration that is trusted.
const trustWebhook = (store: Store, made: Trusting): void =>
  trustValues(store, [{ key: trustKeyOf(made), value: trustValueOf(made) }]);

const NOTE = '\nEvents are sent to this address. Remove this file to end that.\n';
const CASE_NOTE =
  '\nEvents of this Work item are sent to this address. Remove this file to end that.\n';

/** Removes a registration's file; it is kept in `.dossier/undo`. Undefined or false when there is none. */
export const removeRegistration = (
  store: Store,
  scope: Scope,
  id: string,
  ifMatch?: string,
): Promise<boolean | undefined> =>
  changing(store, scope, async (dir) => {
    const entries = entriesOf(store, scope);
    const found = registrationsOf(store, scope).find(({ matter }) => matter.id === id);
    if (found === undefined) return false;
    await readyToWrite(store);
    if (ifMatch !== undefined && !isStill(entries?.get(found.name), ifMatch)) throw changedSince();
    const removing = removeFile(store.layout, join(dir, found.name));
    return evenIfPlaced(removing, () => {
      entries?.delete(found.name);
      if (scope !== undefined) told(store, scope);
      return removing;
    });
  });

const isStill = (entry: ReadEntry<WebhookFile> | undefined, etag: string): boolean =>
  entry !== undefined && entry.problem === undefined && etagOf(entry.sha) === etag;

const changedSince = (): StoreError =>
  new StoreError(
    'precondition_failed',
    'The registration changed since you read it. Read it again and decide anew; it was not removed.',
  );

const told = (store: Store, caseId: string): void => {
  const item = itemOf(store, caseId);
  if (item !== undefined) touch(store, item);
  announce(store, caseId);
};

/** Writes into the registration that its receiver wants no more. */
export const disableRegistration = (
  store: Store,
  { scope, name }: Registration,
): Promise<unknown> =>
  changing(store, scope, async (dir) => {
    await readyToWrite(store);
    await editRecord(store.layout, join(dir, name), () => ({ changes: { disabled: true } }));
    await lookWritten(store, scope);
  });

/** Whether each registration on disk is known. While a file cannot be read, whose secret it needs is not. */
export const allRegistrationsReadable = ({ problems }: Store): boolean =>
  problems.all().every(({ code }) => code === TRUST_NEEDED || code === BACKLOG_CLOSED);

/** The code of a receiver that was too far behind. */
export const BACKLOG_CLOSED = 'backlog_closed';

const entriesOf = (store: Store, scope: Scope): Item['files']['webhooks'] | undefined =>
  scope === undefined ? globalWebhooks(store) : itemOf(store, scope)?.files.webhooks;

/** In the turn of those registrations, on what is on disk this moment. */
const changing = <T>(
  store: Store,
  scope: Scope,
  work: (dir: string) => Promise<T | undefined>,
): Promise<T | undefined> =>
  store.locks.take(lockOf(scope), async () => {
    await lookAgain(store, scope);
    const dir = dirOf(store, scope);
    return dir === undefined ? undefined : work(dir);
  });

const lockOf = (scope: Scope): LockKey =>
  scope === undefined ? lockOn.webhooks() : lockOn.item(scope);

const lookAgain = async (
  store: Store,
  scope: Scope,
  reconcile = (item: Item) => reconcileInTurn(store, item),
): Promise<void> => {
  const item = scope === undefined ? undefined : itemOf(store, scope);
  if (scope === undefined) await refreshWebhooks(store);
  if (item !== undefined) await reconcile(item);
};

/** The same after a write of this call. */
const lookWritten = (store: Store, scope: Scope): Promise<void> =>
  lookAgain(store, scope, (item) => reconcileWritten(store, item));

const dirOf = (store: Store, scope: Scope): string | undefined =>
  scope === undefined ? store.layout.webhooks : pathOfItem(store, scope, webhooksDir);
