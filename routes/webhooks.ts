import { Type } from 'typebox';
import { created, noContent, tagged } from '../lib/http/answer.ts';
import { PageQuery, page, pageOf } from '../lib/http/page.ts';
import { route } from '../lib/http/route.ts';
import { listDeliveries, redeliver } from '../lib/out/webhooks/deliveries.ts';
import {
  listWebhooks,
  readWebhook,
  registerWebhook,
  removeWebhook,
  served,
} from '../lib/out/webhooks/registrations.ts';
import { Delivery } from '../store/records/delivery.ts';
import { Id } from '../store/records/id.ts';
import { CaseWebhookBody, NewWebhook, Webhook, WebhookBody } from '../store/records/webhook.ts';

const WebhookPath = Type.Object({ id: Id });
const DeliveryPath = Type.Object({ id: Id, delivery_id: Id });
const CasePath = Type.Object({ id: Id });
const CaseWebhookPath = Type.Object({ id: Id, webhook_id: Id });
const CaseDeliveryPath = Type.Object({ id: Id, webhook_id: Id, delivery_id: Id });
const Query = Type.Object(PageQuery);

type Registered = Awaited<ReturnType<typeof registerWebhook>>;
const registered = (path: string, { webhook, etag }: Registered) =>
  created(`${path}/${webhook.id}`, webhook, etag);

type Found = Awaited<ReturnType<typeof readWebhook>>;
const found = (registration: Found) => tagged(served(registration), registration.etag);

const globalRoutes = [
  route({
    method: 'POST',
    path: '/webhooks',
    summary: 'Register a receiver of the events of all Work items',
    description:
      'The answer is the only place where the secret is shown. The registration is `webhooks/<id>.md` in the workspace.',
    body: WebhookBody,
    response: NewWebhook,
    status: 201,
    errors: ['webhook_secret_malformed'],
    handler: async ({ body }, service) =>
      registered('/webhooks', await registerWebhook(service, undefined, body)),
  }),
  route({
    method: 'GET',
    path: '/webhooks',
    summary: 'List the receivers of the events of all Work items',
    query: Query,
    response: Type.Array(Webhook),
    handler: async ({ query }, service) =>
      page(await listWebhooks(service, undefined), query, '/webhooks'),
  }),
  route({
    method: 'GET',
    path: '/webhooks/{id}',
    summary: 'Show one registration',
    params: WebhookPath,
    response: Webhook,
    errors: ['not_found'],
    handler: async ({ params }, service) => found(await readWebhook(service, undefined, params.id)),
  }),
  route({
    method: 'DELETE',
    path: '/webhooks/{id}',
    summary: 'Remove a registration; what was not delivered to it is dropped',
    params: WebhookPath,
    conditional: true,
    errors: ['not_found'],
    handler: async ({ params, ifMatch }, service) => {
      await removeWebhook(service, undefined, params.id, ifMatch);
      return noContent();
    },
  }),
  route({
    method: 'GET',
    path: '/webhooks/{id}/deliveries',
    summary: 'List what was and what is to be sent to a receiver',
    description:
      'The newest 1000 attempts, and all that waits; 1000 of them when no `limit` is given.',
    params: WebhookPath,
    query: Query,
    response: Type.Array(Delivery),
    errors: ['not_found'],
    handler: async ({ params, query }, service) =>
      pageOf(
        await listDeliveries(service, undefined, params.id, query.after),
        query,
        `/webhooks/${params.id}/deliveries`,
      ),
  }),
  route({
    method: 'POST',
    path: '/webhooks/{id}/deliveries/{delivery_id}/redeliver',
    summary: 'Send a delivery once more, with the same id and body',
    description:
      'Answers after that attempt, 10 s at most. One that waits for its retry is retried now.',
    params: DeliveryPath,
    response: Delivery,
    errors: ['not_found', 'invalid_state'],
    handler: ({ params }, service) => redeliver(service, undefined, params.id, params.delivery_id),
  }),
];

const caseRoutes = [
  route({
    method: 'POST',
    path: '/cases/{id}/webhooks',
    summary: 'Register a receiver of the events of one Work item',
    description: 'It is sent all of them. The answer is the only place where the secret is shown.',
    params: CasePath,
    body: CaseWebhookBody,
    response: NewWebhook,
    status: 201,
    errors: ['not_found'],
    handler: async ({ params, body }, service) =>
      registered(`/cases/${params.id}/webhooks`, await registerWebhook(service, params.id, body)),
  }),
  route({
    method: 'GET',
    path: '/cases/{id}/webhooks',
    summary: 'List the receivers of the events of one Work item',
    params: CasePath,
    query: Query,
    response: Type.Array(Webhook),
    errors: ['not_found'],
    handler: async ({ params, query }, service) =>
      page(await listWebhooks(service, params.id), query, `/cases/${params.id}/webhooks`),
  }),
  route({
    method: 'GET',
    path: '/cases/{id}/webhooks/{webhook_id}',
    summary: 'Show one registration of a Work item',
    params: CaseWebhookPath,
    response: Webhook,
    errors: ['not_found'],
    handler: async ({ params }, service) =>
      found(await readWebhook(service, params.id, params.webhook_id)),
  }),
  route({
    method: 'DELETE',
    path: '/cases/{id}/webhooks/{webhook_id}',
    summary: 'Remove a registration of a Work item; what was not delivered to it is dropped',
    params: CaseWebhookPath,
    conditional: true,
    errors: ['not_found'],
    handler: async ({ params, ifMatch }, service) => {
      await removeWebhook(service, params.id, params.webhook_id, ifMatch);
      return noContent();
    },
  }),
  route({
    method: 'GET',
    path: '/cases/{id}/webhooks/{webhook_id}/deliveries',
    summary: "List what was and what is to be sent to a Work item's receiver",
    params: CaseWebhookPath,
    query: Query,
    response: Type.Array(Delivery),
    errors: ['not_found'],
    handler: async ({ params, query }, service) =>
      pageOf(
        await listDeliveries(service, params.id, params.webhook_id, query.after),
        query,
        `/cases/${params.id}/webhooks/${params.webhook_id}/deliveries`,
      ),
  }),
  route({
    method: 'POST',
    path: '/cases/{id}/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver',
    summary: "Send a delivery to a Work item's receiver once more, with the same id and body",
    description:
      'Answers after that attempt, 10 s at most. One that waits for its retry is retried now.',
    params: CaseDeliveryPath,
    response: Delivery,
    errors: ['not_found', 'invalid_state'],
    handler: ({ params }, service) =>
      redeliver(service, params.id, params.webhook_id, params.delivery_id),
  }),
];

export const webhookRoutes = [...globalRoutes, ...caseRoutes];
