import assert from 'node:assert/strict';
import type { Answered } from '../../helpers/service.ts';
import { describeRows, ofPull, proposed, type Row } from './surface.ts';

const PULL_REQUESTS: Row[] = [
  {
    method: 'POST',
    path: '/api/cases/:id/pr/create',
    does: 'creates the pull request on the host',
    call: async () => (await proposed()).answer,
    status: 201,
    check: async ({ body }: Answered<{ number: number; title: string }>) => {
      const there = await (await proposed()).host.pulls.read(body.number);
      assert.deepEqual([there.title, there.draft], [body.title, true]);
    },
  },
  ofPull('GET', '', 'tells its record', ({ body }: Answered<{ state: string }>) =>
    assert.equal(body.state, 'draft'),
  ),
  {
    method: 'PATCH',
    path: '/api/cases/:id/pr',
    does: 'updates its record',
    call: async () => {
      const { item, running: there } = await proposed();
      return there.call('PATCH', `/api/cases/${item.id}/pr`, { title: 'Another' });
    },
    status: 200,
    check: async ({ body }: Answered<{ number: number; title: string }>) => {
      const there = await (await proposed()).host.pulls.read(body.number);
      assert.deepEqual([body.title, there.title], ['Another', 'Another']);
    },
  },
  ofPull('GET', '/draft', 'tells title, body and labels', ({ body }: Answered<object>) =>
    assert.ok(['title', 'body', 'labels'].every((name) => name in body)),
  ),
  ofPull('GET', '/ready-check', 'says whether it is ready', ({ body }: Answered<object>) =>
    assert.equal((body as { ready: boolean }).ready, true),
  ),
  ofPull('POST', '/mark-ready', 'marks it ready and shows the proof', async () => {
    const { host: there, answer } = await proposed();
    assert.equal((await there.pulls.read(answer.body.number)).draft, false);
    assert.equal((await there.pulls.comments(answer.body.number)).length, 1);
  }),
  ofPull('GET', '/status', 'tells how it is now', ({ body }: Answered<{ state: string }>) =>
    assert.equal(body.state, 'open'),
  ),
  ofPull('GET', '/state-timeline', 'tells its states in order', ({ body }: Answered<unknown[]>) =>
    assert.equal(body.length, 2),
  ),
  ofPull('POST', '/sync-state', 'syncs its state', ({ body }: Answered<{ state: string }>) =>
    assert.equal(body.state, 'open'),
  ),
  ofPull('POST', '/comment-proof', 'shows the proof', ({ body }: Answered<{ updated: boolean }>) =>
    assert.equal(body.updated, true),
  ),
];

describeRows('pull-requests', PULL_REQUESTS);
