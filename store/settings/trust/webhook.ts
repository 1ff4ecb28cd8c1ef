import type { WebhookMatter } from '../../records/webhook.ts';
import { type WaitingPart, waitingPart } from './effective.ts';
import { sendsNoMore } from './tightening.ts';
import { type TrustLog, type TrustVerdict, trustOf } from './trust-log.ts';

/** A webhook registration and its Work item; `scope` is undefined for a workspace-wide one. */
export interface Trusting {
  scope: string | undefined;
  matter: WebhookMatter;
}

/** The trust key of a registration: by id, so that a moved Work item keeps it. */
export const trustKeyOf = ({ scope, matter: { id } }: Trusting): string =>
  scope === undefined ? `webhooks/${id}` : `cases/${scope}/webhooks/${id}`;

/** The part of a registration that needs trust: the address and the events. */
export const trustValueOf = ({ matter: { url, events } }: Trusting): object => ({
  url,
  ...(events !== undefined && { events }),
});

/** The untrusted part of a registration; undefined if it is trusted. */
export const waitingWebhook = (
  trustLog: TrustLog,
  registration: Trusting,
): WaitingPart | undefined => {
  const { holds, in_force } = webhookVerdict(trustLog, registration);
  if (holds) return undefined;
  return waitingPart(trustKeyOf(registration), trustValueOf(registration), in_force);
};

/** The decision about a registration. */
export const webhookVerdict = (trustLog: TrustLog, registration: Trusting): TrustVerdict => {
  const value = trustValueOf(registration);
  return trustOf(trustLog, trustKeyOf(registration), value, (held) => sendsNoMore(held, value));
};

/** The decision about a removed registration, which always applies. */
export const removedVerdict = (trustLog: TrustLog, registration: Trusting): TrustVerdict =>
  trustOf(trustLog, trustKeyOf(registration), undefined, () => true);
