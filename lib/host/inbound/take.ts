import { createHmac, timingSafeEqual } from 'node:crypto';
import { lockOn } from '../../../store/base/locks.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import { hasArrived, noteArrival } from '../../../store/codehost/arrivals.ts';
import type { Store } from '../../../store/store.ts';
import { incomingSecrets } from '../../../store/workspace/secrets.ts';
import { ServiceError } from '../../errors.ts';
import { tellItems } from './apply.ts';
import { readNews } from './host-news.ts';
import { payloadOf } from './payload.ts';

interface Delivery {
  headers: Record<string, string | string[] | undefined>;
  /** Exactly as they were sent. */
  bytes: Buffer;
}

/** What became of a delivery. */
interface Taken {
  event: string;
  /** It had been taken before, and nothing was done. */
  duplicate: boolean;
  /** The Work items whose records it concerned. */
  case_ids: string[];
  /** In words. */
  note: string;
}

/**
 * Takes a delivery of the code host's webhook: what is not signed leaves no trace. It adds to the timelines of pull requests
 * and marks what is kept here as stale, each delivery once; it asks nobody and moves no Work item.
 */
export const takeDelivery = (store: Store, { headers, bytes }: Delivery): Promise<Taken> => {
  const secrets = incomingSecrets(store.layout);
  checkSignature(bytes, headerIn(headers, 'x-hub-signature-256'), secrets);
  const event = named(headers, 'X-GitHub-Event', /^[a-z0-9_]{1,100}$/);
  const id = named(headers, 'X-GitHub-Delivery', /^[A-Za-z0-9._-]{1,100}$/);
  if (event === 'ping') return Promise.resolve(done(event, [], PONG));
  const payload = payloadOf(bytes);
  const arrival = { id, event, sha256: sha256(bytes) };
  // One after the other: of the same one sent twice at once, the second finds the first noted.
  return store.locks.take(lockOn.arrivals(), async () => {
    if (hasArrived(store, arrival)) return { ...done(event, [], AGAIN), duplicate: true };
    const told = readNews(event, payload);
    const { case_ids, note } = await tellItems(store, told);
    // Noted last: what a crash left half done is done by the repeat, and nothing of it twice.
    await noteArrival(store, arrival);
    return done(event, case_ids, note);
  });
};

const done = (event: string, case_ids: string[], note: string): Taken => ({
  ...{ event, duplicate: false, case_ids, note },
});

const PONG = 'The secret is the right one: deliveries arrive.';
const AGAIN = 'This delivery was taken before; nothing was done.';

const headerIn = (headers: Delivery['headers'], name: string): string | undefined => {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
};

const named = (headers: Delivery['headers'], name: string, form: RegExp): string => {
  const value = headerIn(headers, name) ?? '';
  if (form.test(value)) return value;
  throw new ServiceError(
    'bad_request',
    `${name} is ${value === '' ? 'missing' : 'not what the code host sends'}. Forward the delivery with all its headers.`,
  );
};

/**
 * Throws unless one of the secrets signed these very bytes: 422 where there is none, 401 for a signature that is missing
 * or wrong. How long it takes says nothing of the right one. SHA-1, as in X-Hub-Signature, counts for nothing.
 */
const checkSignature = (
  bytes: Buffer,
  signature: string | undefined,
  secrets: readonly string[],
): void => {
  if (secrets.length === 0) throw noSecret();
  const sent = Buffer.from(/^sha256=([0-9a-f]{64})$/i.exec(signature ?? '')?.[1] ?? '', 'hex');
  const right = secrets.map((secret) => createHmac('sha256', secret).update(bytes).digest());
  // All are compared, whichever it is.
  const matches = right.filter((one) => one.length === sent.length && timingSafeEqual(one, sent));
  if (matches.length === 0) throw unsigned(signature);
};

const noSecret = (): ServiceError =>
  new ServiceError(
    'codehost_no_webhook_secret',
    'Deliveries are taken only when they are signed. Give the secret of the webhook with PUT /api/codehost/settings {"webhook_secret": "…"}, and the same to the code host (gh webhook forward --secret …).',
  );

const unsigned = (signature: string | undefined): ServiceError =>
  new ServiceError(
    'unauthorized',
    signature === undefined
      ? 'X-Hub-Signature-256 is missing, and nothing was taken. Give the webhook on the code host the secret that is set here.'
      : 'X-Hub-Signature-256 is not that of this body with the secret that is set here, and nothing was taken. Compare the secrets; what forwards the delivery must not change its body.',
  );
