import { Type } from 'typebox';
import { listDeliveries, redeliver } from '../lib/events/webhooks/deliveries.ts';
import {
  listWebhooks,
  readKeptSecret,
  readWebhook,
  registerWebhook,
  removeWebhook,
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
        'The first of the attempted deliveries; pending ones follow in their order. Default: oldest',
    }),
  ),
});

const AGAIN =
  'A repetition with the same `Idempotency-Key` returns the current secret, or 404 if the webhook was deleted.';

type Registered = Awaited<ReturnType<typeof registerWebhook>>;
const registered = (path: string, { webhook, etag }: Registered) =>
  created(`${path}/${webhook.id}`, webhook, etag);

type Found = Awaited<ReturnType<typeof readWebhook>>;
const found = (registration: Found) => tagged(served(registration), registration.etag);

const secret = { member: 'secret', read: readKeptSecret } as const;

const globalRoutes = [
  route('POST /webhooks', {
    summary: 'Create a webhook for the events of all Work items',
    description: `The secret is returned only here. ${AGAIN} The webhook is stored as \`webhooks/<id>.md\` in the workspace.`,
    body: WebhookBody,
    response: NewWebhook,
    status: 201,
    secret,
    errors: ['webhook_secret_malformed', 'not_found'],
    handler: async ({ body }, service) =>
      registered('/webhooks', await registerWebhook(service, undefined, body)),
  }),
  route('GET /webhooks', {
    summary: 'List the webhooks for the events of all Work items',
    query: Query,
    response: Type.Array(Webhook),
    handler: async ({ query }, service) =>
      page(await listWebhooks(service, undefined), query, '/webhooks'),
  }),
  route('GET /webhooks/{id}', {
    summary: 'Read a webhook',
    response: Webhook,
    handler: async ({ params }, service) => found(await readWebhook(service, undefined, params.id)),
  }),
  route('DELETE /webhooks/{id}', {
    summary: 'Delete a webhook; pending deliveries are dropped',
    conditional: true,
    handler: ({ params, ifMatch }, service) =>
      removeWebhook(service, undefined, params.id, ifMatch),
  }),
  route('GET /webhooks/{id}/deliveries', {
    summary: 'List the deliveries of a webhook',
    description:
      'The newest 1000 attempts and all pending deliveries. The default of `limit` is 1000.',
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
    summary: 'Redeliver a delivery, with the same id and body',
    description:
      'Returns after the attempt, which takes at most 10 s. A pending retry is made now.',
    response: Delivery,
    errors: ['invalid_state'],
    handler: ({ params }, service) => redeliver(service, undefined, params.id, params.delivery_id),
  }),
];

const caseRoutes = [
  route('POST /cases/{id}/webhooks', {
    summary: 'Create a webhook for the events of a Work item',
    description: `It receives all events. The secret is returned only here. ${AGAIN}`,
    body: CaseWebhookBody,
    response: NewWebhook,
    status: 201,
    secret,
    handler: async ({ params, body }, service) =>
      registered(`/cases/${params.id}/webhooks`, await registerWebhook(service, params.id, body)),
  }),
  route('GET /cases/{id}/webhooks', {
    summary: 'List the webhooks of a Work item',
    query: Query,
    response: Type.Array(Webhook),
    handler: async ({ params, query }, service) =>
      page(await listWebhooks(service, params.id), query, `/cases/${params.id}/webhooks`),
  }),
  route('GET /cases/{id}/webhooks/{webhook_id}', {
    summary: 'Read a webhook of a Work item',
    response: Webhook,
    handler: async ({ params }, service) =>
      found(await readWebhook(service, params.id, params.webhook_id)),
  }),
  route('DELETE /cases/{id}/webhooks/{webhook_id}', {
    summary: 'Delete a webhook of a Work item; pending deliveries are dropped',
    conditional: true,
    handler: ({ params, ifMatch }, service) =>
      removeWebhook(service, params.id, params.webhook_id, ifMatch),
  }),
  route('GET /cases/{id}/webhooks/{webhook_id}/deliveries', {
    summary: "List the deliveries of a Work item's webhook",
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
    summary: "Redeliver a delivery of a Work item's webhook, with the same id and body",
    description:
      'Returns after the attempt, which takes at most 10 s. A pending retry is made now.',
    response: Delivery,
    errors: ['invalid_state'],
    handler: ({ params }, service) =>
      redeliver(service, params.id, params.webhook_id, params.delivery_id),
  }),
];

export const webhookRoutes = [...globalRoutes, ...caseRoutes];
