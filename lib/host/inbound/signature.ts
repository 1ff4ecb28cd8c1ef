import { createHmac, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../errors.ts';

/**
 * Throws unless one of the secrets signed these very bytes: 422 where there is none, 401 for a signature that is missing
 * or wrong. How long it takes says nothing of the right one. SHA-1, as in X-Hub-Signature, counts for nothing.
 */
export const checkSignature = (
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
