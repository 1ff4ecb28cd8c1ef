import { Type } from 'typebox';
import { listDeliveries, redeliver } from '../lib/events/webhooks/deliveries.ts';
import {
  listWebhooks,
  readWebhook,
  registerWebhook,
  removeWebhook,
  secretAgain,
  served,
} from '../lib/events/webhooks/registrations.ts';
import { created, tagged } from '../lib/http/answer.ts';
import { PageQuery, page, pageOf } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import { Delivery } from '../store/records/delivery.ts';
import { CaseWebhookBody, NewWebhook, Webhook, WebhookBody } from '../store/records/webhook.ts';

const Query = Type.Object(PageQuery);

const DeliveriesQuery = Type.Object({
  ...PageQuery,
  order: Type.Optional(
    Type.Enum(['oldest', 'newest'], {
      description:
        'Which of those that were tried comes first; what was not comes after them, in its order. Default: oldest',
    }),
  ),
});

const AGAIN =
  'Sent again with its `Idempotency-Key`, the call is answered with the secret as it is kept then, or with 404 where it is kept no more.';

type Registered = Awaited<ReturnType<typeof registerWebhook>>;
const registered = (path: string, { webhook, etag }: Registered) =>
  created(`${path}/${webhook.id}`, webhook, etag);

type Found = Awaited<ReturnType<typeof readWebhook>>;
const found = (registration: Found) => tagged(served(registration), registration.etag);

const secret = { member: 'secret', read: secretAgain } as const;

const globalRoutes = [
  route('POST /webhooks', {
    summary: 'Register a receiver of the events of all Work items',
    description: `The answer is the only place where the secret is shown. ${AGAIN} The registration is \`webhooks/<id>.md\` in the workspace.`,
    body: WebhookBody,
    response: NewWebhook,
    status: 201,
    secret,
    errors: ['webhook_secret_malformed', 'not_found'],
    handler: async ({ body }, service) =>
      registered('/webhooks', await registerWebhook(service, undefined, body)),
  }),
  route('GET /webhooks', {
    summary: 'List the receivers of the events of all Work items',
    query: Query,
    response: Type.Array(Webhook),
    handler: async ({ query }, service) =>
      page(await listWebhooks(service, undefined), query, '/webhooks'),
  }),
  route('GET /webhooks/{id}', {
    summary: 'Show one registration',
    response: Webhook,
    handler: async ({ params }, service) => found(await readWebhook(service, undefined, params.id)),
  }),
  route('DELETE /webhooks/{id}', {
    summary: 'Remove a registration; what was not delivered to it is dropped',
    conditional: true,
    handler: ({ params, ifMatch }, service) =>
      removeWebhook(service, undefined, params.id, ifMatch),
  }),
  route('GET /webhooks/{id}/deliveries', {
    summary: 'List what was and what is to be sent to a receiver',
    description:
      'The newest 1000 attempts, and all that waits; 1000 of them when no `limit` is given.',
    query: DeliveriesQuery,
    response: Type.Array(Delivery),
    handler: async ({ params, query }, service) =>
      pageOf(
        await listDeliveries(service, undefined, params.id, query),
        query,
        `/webhooks/${params.id}/deliveries`,
      ),
  }),
  route('POST /webhooks/{id}/deliveries/{delivery_id}/redeliver', {
    summary: 'Send a delivery once more, with the same id and body',
    description:
      'Answers after that attempt, 10 s at most. One that waits for its retry is retried now.',
    response: Delivery,
    errors: ['invalid_state'],
    handler: ({ params }, service) => redeliver(service, undefined, params.id, params.delivery_id),
  }),
];

const caseRoutes = [
  route('POST /cases/{id}/webhooks', {
    summary: 'Register a receiver of the events of one Work item',
    description: `It is sent all of them. The answer is the only place where the secret is shown. ${AGAIN}`,
    body: CaseWebhookBody,
    response: NewWebhook,
    status: 201,
    secret,
    handler: async ({ params, body }, service) =>
      registered(`/cases/${params.id}/webhooks`, await registerWebhook(service, params.id, body)),
  }),
  route('GET /cases/{id}/webhooks', {
    summary: 'List the receivers of the events of one Work item',
    query: Query,
    response: Type.Array(Webhook),
    handler: async ({ params, query }, service) =>
      page(await listWebhooks(service, params.id), query, `/cases/${params.id}/webhooks`),
  }),
  route('GET /cases/{id}/webhooks/{webhook_id}', {
    summary: 'Show one registration of a Work item',
    response: Webhook,
    handler: async ({ params }, service) =>
      found(await readWebhook(service, params.id, params.webhook_id)),
  }),
  route('DELETE /cases/{id}/webhooks/{webhook_id}', {
    summary: 'Remove a registration of a Work item; what was not delivered to it is dropped',
    conditional: true,
    handler: ({ params, ifMatch }, service) =>
      removeWebhook(service, params.id, params.webhook_id, ifMatch),
  }),
  route('GET /cases/{id}/webhooks/{webhook_id}/deliveries', {
    summary: "List what was and what is to be sent to a Work item's receiver",
    query: DeliveriesQuery,
    response: Type.Array(Delivery),
    handler: async ({ params, query }, service) =>
      pageOf(
        await listDeliveries(service, params.id, params.webhook_id, query),
        query,
        `/cases/${params.id}/webhooks/${params.webhook_id}/deliveries`,
      ),
  }),
  route('POST /cases/{id}/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver', {
    summary: "Send a delivery to a Work item's receiver once more, with the same id and body",
    description:
      'Answers after that attempt, 10 s at most. One that waits for its retry is retried now.',
    response: Delivery,
    errors: ['invalid_state'],
    handler: ({ params }, service) =>
      redeliver(service, params.id, params.webhook_id, params.delivery_id),
  }),
];

export const webhookRoutes = [...globalRoutes, ...caseRoutes];
