import type { TSchema } from 'typebox';

/** An event that receivers of webhooks are sent. */
export interface EventDoc {
  name: string;
  summary: string;
  payload: TSchema;
}

type Json = Record<string, unknown>;

/** How one event is delivered. */
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
    responses: { '2XX': { description: 'Received. Anything else is delivered again, later.' } },
  },
});

const HEADERS = {
  'X-Service-Event': 'The event_type',
  'X-Service-Signature': '`sha256=<hex>`: the HMAC of the raw body, keyed with the secret',
  'X-Service-Delivery': 'The same on every retry',
  'webhook-id': 'Standard Webhooks: the same on every retry',
  'webhook-timestamp': 'Standard Webhooks: when it was sent, in seconds',
  'webhook-signature': 'Standard Webhooks: `v1,<base64>`',
};

/** The body of one event, as receivers and followers get it. */
export const deliveredBody = (name: string, payload: TSchema): Json => ({
  type: 'object',
  required: ['event_type', 'timestamp', 'payload'],
  properties: {
    event_type: { type: 'string', const: name },
    timestamp: { type: 'string', format: 'date-time' },
    payload,
  },
});

/** What a stream sends, for the OpenAPI document. */
export interface StreamDoc {
  text: string;
  /** Of an event in the JSON form. */
  event: unknown;
}

const ANY: StreamDoc = {
  text: 'Each event has `id:`, `event:` and JSON `data:`.',
  event: {
    type: 'object',
    required: ['id', 'event', 'data'],
    properties: { id: { type: 'integer' }, event: { type: 'string' }, data: {} },
  },
};

/** The two forms of a stream's answer. */
export const streamContent = ({ text, event } = ANY): Json => ({
  'text/event-stream': {
    schema: { type: 'string', description: text },
  },
  'application/json': {
    schema: {
      type: 'array',
      description:
        'The events so far, where Accept prefers JSON: for polling. With `limit`, so many at most, and `Link: <…>; rel="next"` where there are more.',
      items: event,
    },
  },
});
