import type { WebhookMatter } from '../../records/webhook.ts';
import { type WaitingPart, waitingPart } from './effective.ts';
import { sendsNoMore } from './tightening.ts';
import { type Book, type TrustVerdict, trustOf } from './trust-log.ts';

/** What of a registration is trusted, and where it is: undefined is the whole workspace. */
export interface Trusting {
  scope: string | undefined;
  matter: WebhookMatter;
}

/** The name of a registration among what is trusted: by its id, wherever its Work item's directory is. */
export const trustKeyOf = ({ scope, matter: { id } }: Trusting): string =>
  scope === undefined ? `webhooks/${id}` : `cases/${scope}/webhooks/${id}`;

/** Where events are sent, and which. */
export const trustValueOf = ({ matter: { url, events } }: Trusting): object => ({
  url,
  ...(events !== undefined && { events }),
});

/** What of a registration waits for the operator's word; undefined when it holds as it stands. */
export const waitingWebhook = (book: Book, registration: Trusting): WaitingPart | undefined => {
  const { holds, in_force } = webhookVerdict(book, registration);
  if (holds) return undefined;
  return waitingPart(trustKeyOf(registration), trustValueOf(registration), in_force);
};

/** Whether a registration holds as it stands. */
export const webhookVerdict = (book: Book, registration: Trusting): TrustVerdict => {
  const value = trustValueOf(registration);
  return trustOf(book, trustKeyOf(registration), value, (held) => sendsNoMore(held, value));
};

/** That a registration is gone, which always holds. */
export const removedVerdict = (book: Book, registration: Trusting): TrustVerdict =>
  trustOf(book, trustKeyOf(registration), undefined, () => true);
