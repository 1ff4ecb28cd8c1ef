import { newId } from '../../../store/base/new-id.ts';
import { PATTERNS } from '../../../store/records/patterns.ts';
import type { NewWebhook, Webhook, WebhookBody } from '../../../store/records/webhook.ts';
import type { WithStore } from '../../../store/store.ts';
import { removeDeliveries } from '../../../store/webhooks/deliveries.ts';
import { keptSecret, newSecret, retireSecret } from '../../../store/webhooks/secrets.ts';
import {
  createRegistration,
  type Registration,
  readRegistrations,
  removeRegistration,
  type Scope,
} from '../../../store/webhooks/webhooks.ts';
import { badField, notFound, ServiceError } from '../../errors.ts';
import type { WithDispatcher } from './dispatcher.ts';
import { OWN_ADDRESS, resolvesToDaemon, type WithAddress } from './own-address.ts';
import { encodedKey } from './sign.ts';

/** Registers a receiver for all events from now on. Only this response has the secret. */
export const registerWebhook = async (
  { address, store, dispatcher }: WithAddress & WithDispatcher & WithStore,
  scope: Scope,
  { url, events, secret = newSecret() }: WebhookBody,
): Promise<{ webhook: NewWebhook; etag: string }> => {
  await refuseUrl(address, url);
  refuseSecret(secret);
  const matter = {
    id: newId(),
    url,
    ...(scope === undefined && { events: events ?? ['*' as const] }),
    created_at: store.clock().toISOString(),
  };
  const made = await createRegistration(store, scope, { matter, secret });
  if (made === undefined) throw noSuchScope(scope);
  dispatcher.changed();
  return { webhook: { ...served(made), secret }, etag: made.etag };
};

const PATTERN = new RegExp(PATTERNS.receiver[0]);

const refuseUrl = async (address: { url: string | undefined }, url: string): Promise<void> => {
  if (!PATTERN.test(url) || !URL.canParse(url))
    throw badField('/url', 'must be an http or https URL without a user or password in it');
  if (await resolvesToDaemon(() => address.url, url)) throw badField('/url', OWN_ADDRESS);
};

const refuseSecret = (secret: string): void => {
  if ([...secret].some(isControl)) throw badField('/secret', 'must be one line of text');
  if (!secret.startsWith('whsec_') || encodedKey(secret) !== undefined) return;
  throw new ServiceError(
    'webhook_secret_malformed',
    'After whsec_, /secret must be a key in base64, which verifiers decode. Send such a key, a secret without that prefix, or none, and the daemon creates one.',
    { errors: [{ path: '/secret', message: 'is not whsec_ and a key in base64' }] },
  );
};

const isControl = (character: string): boolean => character < ' ' || character === '\u007f';

const noSuchScope = (scope: Scope): ServiceError => notFound('Work item', scope ?? '');

/** A registration as the API returns it, without its secret. */
export const served = ({ matter, waiting }: Registration): Webhook => ({
  id: matter.id,
  url: matter.url,
  events: matter.events ?? ['*'],
  ...(matter.disabled === true && { disabled: true }),
  ...(waiting !== undefined && { trusted: false }),
  created_at: matter.created_at,
});

/** The secret of a registration, for the response to a repeated request; throws 404 if it is no longer kept. */
export const readKeptSecret = ({ store }: WithStore, { id }: Pick<NewWebhook, 'id'>): string => {
  const secret = keptSecret(store.layout, id);
  if (secret !== undefined) return secret;
  throw new ServiceError(
    'not_found',
    `The secret of the webhook ${id} is no longer kept. Register the receiver again, with a new Idempotency-Key.`,
  );
};

export const listWebhooks = async (
  service: WithDispatcher & WithStore,
  scope: Scope,
): Promise<Webhook[]> => (await registrations(service, scope)).map(served);

/** The registrations on disk now. The dispatcher is notified of changes. */
const registrations = async (
  { store, dispatcher }: WithDispatcher & WithStore,
  scope: Scope,
): Promise<Registration[]> => {
  const found = await readRegistrations(store, scope);
  if (found === undefined) throw noSuchScope(scope);
  if (scope === undefined) dispatcher.changed();
  return found;
};

export const readWebhook = async (
  service: WithDispatcher & WithStore,
  scope: Scope,
  id: string,
): Promise<Registration> => {
  const found = (await registrations(service, scope)).find(({ matter }) => matter.id === id);
  if (found === undefined) throw notFound('webhook', id);
  return found;
};

/** Removes a registration with its secret, its log and its pending deliveries. */
export const removeWebhook = async (
  { store, dispatcher }: WithDispatcher & WithStore,
  scope: Scope,
  id: string,
  ifMatch?: string,
): Promise<void> => {
  const removed = await removeRegistration(store, scope, id, ifMatch);
  if (removed === undefined) throw noSuchScope(scope);
  if (!removed) throw notFound('webhook', id);
  dispatcher.changed();
  retireSecret(store.layout, id);
  removeDeliveries(store.layout, id);
};
