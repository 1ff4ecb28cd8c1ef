import type { TSchema } from 'typebox';

/** An event that is delivered to webhooks. */
export interface EventDoc {
  name: string;
  summary: string;
  payload: TSchema;
}

type Json = Record<string, unknown>;

/** The description of one event's delivery. */
export const webhook = ({ name, summary, payload }: EventDoc): Json => ({
  post: {
    operationId: `on_${name}`,
    summary,
    parameters: Object.entries(HEADERS).map(([header, description]) => ({
      name: header,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: deliveredBody(name, payload) } },
    },
    responses: { '2XX': { description: 'Received. After any other answer, delivery is retried.' } },
  },
});

const HEADERS = {
  'X-Service-Event': 'The event_type',
  'X-Service-Signature': '`sha256=<hex>`: the HMAC of the raw body, keyed with the secret',
  'X-Service-Delivery': 'The same on every retry',
  'webhook-id': 'Standard Webhooks: the same on every retry',
  'webhook-timestamp': 'Standard Webhooks: the time of sending, in seconds since 1970',
  'webhook-signature': 'Standard Webhooks: `v1,<base64>`',
};

/** The body of one event, in deliveries and streams. */
export const deliveredBody = (name: string, payload: TSchema): Json => ({
  type: 'object',
  required: ['event_type', 'timestamp', 'payload'],
  properties: {
    event_type: { type: 'string', const: name },
    timestamp: { type: 'string', format: 'date-time' },
    payload,
  },
});

/** A stream's description in the OpenAPI document. */
export interface StreamDoc {
  text: string;
  /** The schema of an event in the JSON form. */
  event: unknown;
}

/** The answer of a stream, as server-sent events and as JSON. */
export const streamContent = ({ text, event }: StreamDoc): Json => ({
  'text/event-stream': {
    schema: { type: 'string', description: text },
  },
  'application/json': {
    schema: {
      type: 'array',
      description:
        'The recorded events, for polling, if Accept prefers JSON. With `limit`, at most that many, and `Link: <…>; rel="next"` if there are more.',
      items: event,
    },
  },
});
