import { createHmac } from 'node:crypto';

interface SignedContent {
  /** The id of the delivery, the same on every retry. */
  id: string;
  /** The exact request body. */
  body: string;
  at: Date;
}

/**
 * The signature headers of a delivery. X-Service-Signature covers the raw body; that of Standard Webhooks also covers id and
 * time, against replays.
 */
export const signatures = (
  secret: string,
  { id, body, at }: SignedContent,
): Record<string, string> => {
  const seconds = Math.floor(at.getTime() / 1000);
  const standard = hmac(standardKey(secret), `${id}.${seconds}.${body}`).toString('base64');
  return {
    'X-Service-Signature': `sha256=${hmac(Buffer.from(secret), body).toString('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${standard}`,
  };
};

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const STANDARD = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

// Verifiers decode the base64 after `whsec_`; any other secret is the key itself.
const standardKey = (secret: string): Buffer => encodedKey(secret) ?? Buffer.from(secret);

/** The key after `whsec_` of a secret; undefined for a secret of any other form. */
export const encodedKey = (secret: string): Buffer | undefined => {
  const encoded = STANDARD.exec(secret)?.[1];
  return encoded ? Buffer.from(encoded, 'base64') : undefined;
};
