import assert from 'node:assert/strict';
import type { Answered } from '../../helpers/service.ts';
import { describeRows, once, proposed, type Row } from './surface.ts';

const ofBody = async <T>(method: string, path: string, body?: object): Promise<Answered<T>> => {
  const { item, running: there } = await proposed();
  return there.call<T>(method, `/api/cases/${item.id}/pr-body/${path}`, body);
};

const update = once(() =>
  ofBody<{ id: string; diff: string }>('POST', 'suggest-update', { body: 'New.' }),
);

const PULL_BODY: Row[] = [
  {
    method: 'POST',
    path: '/api/cases/:id/pr-body/compose',
    does: 'composes the body',
    call: () => ofBody('POST', 'compose'),
    status: 200,
    check: ({ body }: Answered<{ body: string }>) => assert.match(body.body, /How it was proved/),
  },
  {
    method: 'GET',
    path: '/api/cases/:id/pr-body/draft',
    does: 'tells the draft',
    call: () => ofBody('GET', 'draft'),
    status: 200,
    check: ({ body }: Answered<{ body: string }>) => assert.match(body.body, /How it was proved/),
  },
  {
    method: 'POST',
    path: '/api/cases/:id/pr-body/suggest-update',
    does: 'queues an update, and publishes nothing',
    call: update,
    status: 201,
    check: async ({ body }: Answered<{ diff: string }>) => {
      const { host: there, answer } = await proposed();
      assert.match(body.diff, /^\+New\.$/m);
      assert.notEqual((await there.pulls.read(answer.body.number)).body, 'New.');
    },
  },
  {
    method: 'POST',
    path: '/api/cases/:id/pr-body/updates/:update_id/approve',
    does: 'publishes it',
    call: async () => ofBody('POST', `updates/${(await update()).body.id}/approve`),
    status: 200,
    check: async () => {
      const { host: there, answer } = await proposed();
      assert.equal((await there.pulls.read(answer.body.number)).body, 'New.');
    },
  },
];

describeRows('pr-body', PULL_BODY);
