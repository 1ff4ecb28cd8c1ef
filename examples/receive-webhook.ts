import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';

export interface WebhookEvent {
  event_type: string;
  timestamp: string;
  payload: Record<string, unknown>;
}

export type Keep = (event: WebhookEvent, id: string) => void | Promise<void>;

/** Takes one delivery. What the daemon did not sign is refused; what could not be kept is sent again later. */
export const receiveWebhook = async (
  request: IncomingMessage,
  response: ServerResponse,
  secret: string,
  keep: Keep,
): Promise<void> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  // The bytes as they came: a parsed and rewritten body has another signature.
  const body = Buffer.concat(chunks);
  try {
    const event = verify(body, request.headers, secret);
    // The id is the same on every retry: by it a repeated delivery is known.
    await keep(event, String(request.headers['webhook-id']));
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
};

// Either check is enough. The stock verifier also refuses what is older than five minutes.
const verify = (body: Buffer, headers: IncomingHttpHeaders, secret: string): WebhookEvent => {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  if (!isSame(expected, String(headers['x-service-signature'])))
    throw new Error('Not signed by us');
  // A secret of your own is its own key, one that the daemon made is `whsec_` and a key in base64.
  const isEncoded = secret.startsWith('whsec_');
  const verifier = isEncoded ? new Webhook(secret) : new Webhook(secret, { format: 'raw' });
  return verifier.verify(body, headers as Record<string, string>) as WebhookEvent;
};

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
