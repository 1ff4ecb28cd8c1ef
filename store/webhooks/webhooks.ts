import { join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { isInGrace } from '../base/grace.ts';
import { type LockKey, lockOn } from '../base/locks.ts';
import { etagOf, meets } from '../base/names.ts';
import { sha256 } from '../base/sha256.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import { fileProblem } from '../front-matter/problem.ts';
import { editRecord } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { createFile, removeFile, syncCreated } from '../fs/durable.ts';
import { statsAt } from '../fs/plain-path.ts';
import { evenIfSyncFailed } from '../fs/synced.ts';
import { webhooksDir } from '../layout.ts';
import type { Item } from '../reconcile/item.ts';
import { allItems, invalidate, itemOf, notifyItemChanged, pathOfItem } from '../reconcile/items.ts';
import { reconcileLocked, reconcileWritten } from '../reconcile/reconcile.ts';
import type { WaitingValue } from '../records/trust.ts';
import type { WebhookMatter } from '../records/webhook.ts';
import { globalWebhooks, refreshWebhooks, trustLogOf } from '../settings/globals.ts';
import type { WebhookFile } from '../settings/read-webhooks.ts';
import type { WaitingPart } from '../settings/trust/effective.ts';
import { logVerdicts, type TrustLog } from '../settings/trust/trust-log.ts';
import { TRUST_NEEDED, untrustedProblem, waitingValue } from '../settings/trust/waiting.ts';
import {
  removedVerdict,
  type Trusting,
  trustKeyOf,
  trustValueOf,
  waitingWebhook,
  webhookVerdict,
} from '../settings/trust/webhook.ts';
import { readyToWrite, type Store } from '../store.ts';
import { dropSecret, retireSecret, saveSecret, secretIds } from './secrets.ts';

/** The id of a Work item, or undefined for registrations of the whole workspace. */
export type Scope = string | undefined;

export interface Registration {
  scope: Scope;
  /** File name. */
  name: string;
  etag: string;
  matter: WebhookMatter;
  /** Modification time of the file. */
  written_at: number;
  /** The file vanished within the grace period. */
  vanished: boolean;
  /** Untrusted values of the file: its address and events. */
  waiting?: WaitingPart;
}

/** The registrations as last read, oldest first; those whose files vanished within the grace period come last. */
export const registrationsOf = (store: Store, scope: Scope): Registration[] => {
  const entries = entriesOf(store, scope);
  if (entries === undefined || entries.size === 0) return [];
  return [...entries]
    .filter(([, { gone_at }]) => gone_at === undefined || isInGrace(gone_at))
    .flatMap(([name, entry]) => registration(scope, name, entry) ?? [])
    .map((one) => withTrust(trustLogOf(store), one))
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

const withTrust = (trustLog: TrustLog, registration: Registration): Registration => {
  const waiting = waitingWebhook(trustLog, registration);
  return waiting === undefined ? registration : { ...registration, waiting };
};

/** All registrations with untrusted values. */
export const waitingRegistrations = (store: Store): WaitingValue[] =>
  [undefined, ...allItems(store).map(({ id }) => id)].flatMap((scope) =>
    registrationsOf(store, scope).flatMap((one) => {
      const { waiting, written_at } = one;
      if (waiting === undefined || one.vanished) return [];
      return waitingValue(waiting, {
        kind: 'webhook',
        file: registrationFile(store, one),
        written_at,
      });
    }),
  );

/** The file of a registration, relative to the workspace. */
export const registrationFile = (store: Store, { scope, name }: Registration): string =>
  [scope === undefined ? [] : (itemOf(store, scope)?.dir ?? []), 'webhooks', name].flat().join('/');

/** A registration with its last trusted address and events; undefined if none were trusted yet. */
export const trustedPart = (registration: Registration): Registration | undefined => {
  const { waiting, matter } = registration;
  if (waiting === undefined) return registration;
  const held = waiting.trusted_value as Pick<WebhookMatter, 'url' | 'events'> | undefined;
  if (held === undefined) return undefined;
  const { events: _events, ...rest } = matter;
  return { ...registration, matter: { ...rest, ...held } };
};

/** Records which values of a scope's registrations are trusted, and reports the others as problems. */
export const recordTrust = (store: Store, scope: Scope, all: Registration[]): void => {
  const trustLog = trustLogOf(store);
  const verdicts = all.map((one) => webhookVerdict(trustLog, one));
  logVerdicts(trustLog, verdicts);
  const waiting = all.filter((one) => one.waiting !== undefined && !one.vanished);
  store.problems.set(
    `trust ${scope}`,
    waiting.map((one) =>
      fileProblem(registrationFile(store, one), untrustedProblem(store.layout, ['This receiver'])),
    ),
  );
};

/** Records that a registration was removed: a new file of that name with another address starts untrusted. */
export const recordRemoval = (store: Store, gone: Registration): void =>
  logVerdicts(trustLogOf(store), [removedVerdict(trustLogOf(store), gone)]);

const orderOf = ({ vanished, name, matter: { created_at, id } }: Registration): string =>
  [vanished, created_at, id, name].join(' ');

/** The registrations as they are on disk now; undefined if there is no such Work item. */
export const readRegistrations = async (
  store: Store,
  scope: Scope,
): Promise<Registration[] | undefined> =>
  withRegistrations(store, scope, async () =>
    registrationsOf(store, scope).filter(({ vanished }) => !vanished),
  );

/** Creates a registration after its secret, so that nothing is sent unsigned. Undefined if there is no such Work item. */
export const createRegistration = (
  store: Store,
  scope: Scope,
  { matter, secret }: { matter: WebhookMatter; secret: string },
): Promise<Registration | undefined> =>
  withRegistrations(store, scope, async (dir) => {
    await readyToWrite(store);
    // A repeated request: its first secret was never returned.
    if (secretIds(store.layout).includes(matter.id)) retireSecret(store.layout, matter.id);
    const text = renderFrontMatter({ ...matter }, scope === undefined ? NOTE : CASE_NOTE);
    const name = `${matter.id}.md`;
    const path = join(dir, name);
    const made = orDropSecret(store, matter.id, path, async () => {
      await saveSecret(store.layout, matter.id, secret);
      trustWebhook(store, { scope, matter });
      if (!(await createFile(store.layout, path, text))) await syncCreated(dir);
    });
    await evenIfSyncFailed(made, () => refreshWritten(store, scope));
    const found = registrationsOf(store, scope).find((one) => one.matter.id === matter.id);
    // If the folder cannot be read, the written values are returned.
    const etag = etagOf(sha256(text));
    return found ?? { scope, name, etag, matter, written_at: Date.now(), vanished: false };
  });

// Removes the secret if the registration could not be written.
const orDropSecret = (
  { layout }: Store,
  id: string,
  path: string,
  make: () => Promise<void>,
): Promise<void> =>
  make().catch((error: unknown) => {
    if (orElse(() => statsAt(path) === undefined, false)) dropSecret(layout, id);
    throw error;
  });

// Called before the file exists, so that it is never read as untrusted.
const trustWebhook = (store: Store, made: Trusting): void =>
  store.consent.grant([{ key: trustKeyOf(made), value: trustValueOf(made) }]);

const NOTE = '\nEvents are sent to this address. Remove this file to end that.\n';
const CASE_NOTE =
  '\nEvents of this Work item are sent to this address. Remove this file to end that.\n';

/** Moves a registration's file to `.dossier/undo`; undefined or false if there is none. */
export const removeRegistration = (
  store: Store,
  scope: Scope,
  id: string,
  ifMatch?: string,
): Promise<boolean | undefined> =>
  withRegistrations(store, scope, async (dir) => {
    const entries = entriesOf(store, scope);
    const found = registrationsOf(store, scope).find(({ matter }) => matter.id === id);
    if (found === undefined) return false;
    await readyToWrite(store);
    if (!meets(ifMatch, etagIn(entries?.get(found.name)))) throw changedSince();
    const removing = removeFile(store.layout, join(dir, found.name));
    return evenIfSyncFailed(removing, () => {
      entries?.delete(found.name);
      if (scope !== undefined) notifyItem(store, scope);
      return removing;
    });
  });

const etagIn = (entry: ReadEntry<WebhookFile> | undefined): string | undefined =>
  entry === undefined || entry.problem !== undefined ? undefined : etagOf(entry.sha);

const changedSince = (): StoreError =>
  new StoreError(
    'precondition_failed',
    'The registration changed since you read it, and was not removed. Read it again, then decide.',
  );

const notifyItem = (store: Store, caseId: string): void => {
  const item = itemOf(store, caseId);
  if (item !== undefined) invalidate(store, item);
  notifyItemChanged(store, caseId);
};

/** Disables a registration, after its receiver answered 410. */
export const disableRegistration = (
  store: Store,
  { scope, name }: Registration,
): Promise<unknown> =>
  withRegistrations(store, scope, async (dir) => {
    await readyToWrite(store);
    await editRecord(store.layout, join(dir, name), () => ({ changes: { disabled: true } }));
    await refreshWritten(store, scope);
  });

/** Whether every registration on disk is readable. The secret of an unreadable one must not be removed. */
export const allRegistrationsReadable = ({ problems }: Store): boolean =>
  problems.all().every(({ code }) => OF_READABLE.has(code));

/** Problem code of a receiver whose backlog was closed. */
export const BACKLOG_CLOSED = 'backlog_closed';

/** Problem code of a receiver that does not accept deliveries. */
export const RECEIVER_FAILING = 'receiver_failing';

const OF_READABLE: ReadonlySet<string> = new Set([TRUST_NEEDED, BACKLOG_CLOSED, RECEIVER_FAILING]);

const entriesOf = (store: Store, scope: Scope): Item['files']['webhooks'] | undefined =>
  scope === undefined ? globalWebhooks(store) : itemOf(store, scope)?.files.webhooks;

/** Runs `work` under the lock of a scope's registrations, after reading them again. */
const withRegistrations = <T>(
  store: Store,
  scope: Scope,
  work: (dir: string) => Promise<T | undefined>,
): Promise<T | undefined> =>
  store.locks.take(lockOf(scope), async () => {
    await refresh(store, scope);
    const dir = dirOf(store, scope);
    return dir === undefined ? undefined : work(dir);
  });

const lockOf = (scope: Scope): LockKey =>
  scope === undefined ? lockOn.webhooks() : lockOn.item(scope);

const refresh = async (
  store: Store,
  scope: Scope,
  reconcile = (item: Item) => reconcileLocked(store, item),
): Promise<void> => {
  const item = scope === undefined ? undefined : itemOf(store, scope);
  if (scope === undefined) await refreshWebhooks(store);
  if (item !== undefined) await reconcile(item);
};

/** Reads the registrations again after a write of this request. */
const refreshWritten = (store: Store, scope: Scope): Promise<void> =>
  refresh(store, scope, (item) => reconcileWritten(store, item));

const dirOf = (store: Store, scope: Scope): string | undefined =>
  scope === undefined ? store.layout.webhooks : pathOfItem(store, scope, webhooksDir);
