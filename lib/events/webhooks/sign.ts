import { createHmac } from 'node:crypto';

interface Signed {
  /** The delivery's id: the same on every retry. */
  id: string;
  /** Exactly what is sent. */
  body: string;
  at: Date;
}

/**
 * The headers by which a receiver knows who sent this and that nobody changed it: ours covers the raw body, the Standard
 * Webhooks ones also when it was sent, against replays.
 */
export const signatures = (secret: string, { id, body, at }: Signed): Record<string, string> => {
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

// Stock verifiers decode what follows `whsec_`; a secret of any other form is its own key.
const standardKey = (secret: string): Buffer => encodedKey(secret) ?? Buffer.from(secret);

/** The key that a secret holds behind `whsec_`; undefined where it is written in any other form. */
export const encodedKey = (secret: string): Buffer | undefined => {
  const encoded = STANDARD.exec(secret)?.[1];
  return encoded ? Buffer.from(encoded, 'base64') : undefined;
};
