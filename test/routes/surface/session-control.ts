import assert from 'node:assert/strict';
import type { Session } from '../../../store/records/session.ts';
import type { Answered } from '../../helpers/service.ts';
import { call, describeRows, made, newCase, type Row } from './surface.ts';

const SESSION_CONTROL: Row[] = [
  {
    method: 'GET',
    path: '/api/sessions/providers',
    does: 'lists what a session can be made with, that of the settings first',
    call: () => call('GET', '/api/sessions/providers'),
    status: 200,
    check: ({ body }: Answered<{ id: string; available: boolean }[]>) =>
      assert.deepEqual([body[0]?.id, body[0]?.available], ['runbook', true]),
  },
  {
    method: 'GET',
    path: '/api/sessions/queue',
    does: 'lists the queued sessions across all Work items',
    call: async () => {
      const { id: case_id } = await newCase();
      for (const provider of ['manual', 'manual'])
        await made('/api/sessions/queue', { case_id, provider });
      return call('GET', '/api/sessions/queue');
    },
    status: 200,
    check: ({ body }: Answered<Session[]>) =>
      assert.ok(body.length > 0 && body.every(({ status }) => status === 'queued')),
  },
  {
    method: 'POST',
    path: '/api/sessions/queue',
    does: 'enqueues a session',
    call: async () => call('POST', '/api/sessions/queue', { case_id: (await newCase()).id }),
    status: 201,
    check: ({ body }: Answered<Session>) => assert.equal(body.mode, 'plan'),
  },
  {
    method: 'GET',
    path: '/api/sessions/active',
    does: 'lists the active sessions',
    call: async () => {
      const { id } = await newCase();
      await made(`/cases/${id}/sessions`, { type: 'active', provider: 'manual' });
      return call('GET', '/api/sessions/active');
    },
    status: 200,
    check: ({ body }: Answered<Session[]>) =>
      assert.ok(body.some(({ type, status }) => type === 'active' && status === 'planning')),
  },
  {
    method: 'GET',
    path: '/api/worktrees/:case_id/lock',
    does: 'tells the lock state',
    call: async () => call('GET', `/api/worktrees/${(await newCase()).id}/lock`),
    status: 200,
    check: ({ body }: Answered<{ locked: boolean }>) => assert.equal(body.locked, false),
  },
  {
    method: 'POST',
    path: '/api/worktrees/:case_id/lock',
    does: 'acquires the lock; error if held',
    call: async () => {
      const path = `/api/worktrees/${(await newCase()).id}/lock`;
      const taken = await call('POST', path);
      assert.equal((await call('POST', path)).status, 409);
      return taken;
    },
    status: 201,
    check: ({ body }: Answered<{ locked: boolean }>) => assert.equal(body.locked, true),
  },
  {
    method: 'DELETE',
    path: '/api/worktrees/:case_id/lock',
    does: 'releases the lock',
    call: async () => {
      const path = `/api/worktrees/${(await newCase()).id}/lock`;
      await made(path, {});
      return call('DELETE', path);
    },
    status: 204,
  },
  ...(['pause', 'resume', 'abort'] as const).map(
    (what): Row => ({
      method: 'POST',
      path: `/api/cases/:id/session/${what}`,
      does: `${what}s the session`,
      call: async () => {
        const { id } = await newCase();
        await made(`/cases/${id}/sessions`, { type: 'implementing', provider: 'manual' });
        const at = `/api/cases/${id}/session`;
        if (what === 'resume') assert.equal((await call('POST', `${at}/pause`)).status, 200);
        return call('POST', `${at}/${what}`);
      },
      status: 200,
      check: ({ body }: Answered<Session>) =>
        assert.equal(body.status, { pause: 'paused', resume: 'planning', abort: 'aborted' }[what]),
    }),
  ),
];

describeRows('session-control', SESSION_CONTROL);
