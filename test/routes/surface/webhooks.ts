import assert from 'node:assert/strict';
import type { NewWebhook } from '../../../store/records/webhook.ts';
import type { Answered } from '../../helpers/service.ts';
import { at, call, describeRows, made, once, type Row } from './surface.ts';

const HOOK = 'http://127.0.0.1:9/hook';

const webhook = once(() =>
  made<NewWebhook>('/webhooks', { url: HOOK, events: ['*'], secret: 's' }),
);

const caseWebhook = once(async () => made<NewWebhook>(`${await at()}/webhooks`, { url: HOOK }));

const WEBHOOKS: Row[] = [
  {
    method: 'POST',
    path: '/webhooks',
    does: 'registers a global webhook',
    call: () => call('POST', '/webhooks', { url: HOOK, events: ['proof_created'], secret: 'mine' }),
    status: 201,
    check: ({ body }: Answered<NewWebhook>) =>
      assert.deepEqual([body.url, body.events, body.secret], [HOOK, ['proof_created'], 'mine']),
  },
  {
    method: 'GET',
    path: '/webhooks',
    does: 'lists global webhooks, without their secrets',
    call: async () => {
      await webhook();
      return call('GET', '/webhooks');
    },
    status: 200,
    check: async ({ body, text }: Answered<{ id: string }[]>) => {
      const { id } = await webhook();
      assert.ok(body.some((each) => each.id === id));
      assert.doesNotMatch(text, /secret/);
    },
  },
  {
    method: 'DELETE',
    path: '/webhooks/:id',
    does: 'removes a global webhook',
    call: async () => call('DELETE', `/webhooks/${(await webhook()).id}`),
    status: 204,
    check: async () =>
      assert.equal((await call('GET', `/webhooks/${(await webhook()).id}`)).status, 404),
  },
  {
    method: 'POST',
    path: '/cases/:id/webhooks',
    does: 'registers a webhook of one Work item, by its url alone',
    call: async () => call('POST', `${await at()}/webhooks`, { url: HOOK }),
    status: 201,
    check: ({ body }: Answered<NewWebhook>) => assert.equal(body.url, HOOK),
  },
  {
    method: 'GET',
    path: '/cases/:id/webhooks',
    does: 'lists the webhooks of the Work item',
    call: async () => {
      await caseWebhook();
      return call('GET', `${await at()}/webhooks`);
    },
    status: 200,
    check: async ({ body }: Answered<{ id: string }[]>) => {
      const { id } = await caseWebhook();
      assert.ok(body.some((each) => each.id === id));
    },
  },
  {
    method: 'DELETE',
    path: '/cases/:id/webhooks/:webhook_id',
    does: 'removes a webhook of the Work item',
    call: async () => call('DELETE', `${await at()}/webhooks/${(await caseWebhook()).id}`),
    status: 204,
    check: async () => {
      const path = `${await at()}/webhooks/${(await caseWebhook()).id}`;
      assert.equal((await call('GET', path)).status, 404);
    },
  },
];

describeRows('webhooks', WEBHOOKS);
