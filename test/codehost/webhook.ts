import { createHmac, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

export interface Example {
  /** `pull_request_review`, … */
  event: string;
  /** The first example with this action; the first of all if nothing is said. */
  action?: string;
  /** Fields to set, by their path: `{ 'repository.full_name': 'acme/app', 'pull_request.number': 3 }`. */
  set?: Record<string, unknown>;
}

/** A delivery as GitHub sends it: post `body` as it is, with these headers. */
export interface WebhookDelivery {
  body: string;
  headers: Record<string, string>;
  payload: Record<string, unknown>;
}

/** One of GitHub's own examples, signed with a secret, under a new delivery id. */
export const webhookDelivery = (secret: string, example: Example): WebhookDelivery =>
  deliveryOf(secret, example.event, payloadOf(example));

/** Any payload, as a delivery. The bytes are signed, so that it has to arrive as it is. */
export const deliveryOf = (
  secret: string,
  event: string,
  payload: Record<string, unknown>,
): WebhookDelivery => {
  const body = JSON.stringify(payload);
  return { body, payload, headers: { ...headersOf(event), ...signatureOf(secret, body) } };
};

/** The header that proves it. */
export const signatureOf = (secret: string, body: string): Record<string, string> => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

const headersOf = (event: string): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': 'GitHub-Hookshot/0000000',
  'x-github-delivery': randomUUID(),
  'x-github-event': event,
  'x-github-hook-id': '1',
  'x-github-hook-installation-target-id': '1',
  'x-github-hook-installation-target-type': 'repository',
});

interface Definition {
  name: string;
  examples: Record<string, unknown>[];
}

let known: Definition[] | undefined;

// Nine megabytes: read when the first is wanted.
const definitions = (): Definition[] => {
  known ??= createRequire(import.meta.url)('@octokit/webhooks-examples') as Definition[];
  return known;
};

const payloadOf = ({ event, action, set = {} }: Example): Record<string, unknown> => {
  const { examples = [] } = definitions().find(({ name }) => name === event) ?? {};
  const found = examples.find((each) => action === undefined || each.action === action);
  if (found === undefined) throw new Error(`GitHub has no example of ${event} ${action ?? ''}`);
  const payload = structuredClone(found);
  for (const [path, value] of Object.entries(set)) setAt(payload, path.split('.'), value);
  return payload;
};

const setAt = (target: Record<string, unknown>, path: string[], value: unknown): void => {
  const [key = '', ...rest] = path;
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  const inner = target[key];
  if (inner === null || typeof inner !== 'object') target[key] = {};
  setAt(target[key] as Record<string, unknown>, rest, value);
};

/** Every event that GitHub gives an example of. */
export const exampleEvents = (): string[] => definitions().map(({ name }) => name);
