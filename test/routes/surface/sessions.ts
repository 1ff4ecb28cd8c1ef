import assert from 'node:assert/strict';
import type { SessionMessage } from '../../../store/records/message.ts';
import type { Session } from '../../../store/records/session.ts';
import { eventually } from '../../helpers/eventually.ts';
import type { Answered } from '../../helpers/service.ts';
import { call, describeRows, get, made, newCase, once, type Row } from './surface.ts';

/** A session whose plan waits for the operator. */
const session = once(async () => {
  const { id } = await newCase();
  const { id: sid } = await made<Session>(`/cases/${id}/sessions`, { type: 'implementing' });
  const path = `/cases/${id}/sessions/${sid}`;
  await eventually(async () => assert.equal((await get<Session>(path)).status, 'plan_ready'));
  return { id, sid, path };
});

const SESSIONS: Row[] = [
  {
    method: 'GET',
    path: '/cases/:id/sessions',
    does: 'lists the sessions of the Work item',
    call: async () => call('GET', `/cases/${(await session()).id}/sessions`),
    status: 200,
    check: async ({ body }: Answered<Session[]>) =>
      assert.deepEqual(
        body.map(({ id }) => id),
        [(await session()).sid],
      ),
  },
  {
    method: 'POST',
    path: '/cases/:id/sessions',
    does: 'creates a session, in Plan mode',
    call: async () =>
      call('POST', `/cases/${(await newCase()).id}/sessions`, { type: 'implementing' }),
    status: 201,
    check: ({ body }: Answered<Session>) =>
      assert.deepEqual([body.type, body.mode], ['implementing', 'plan']),
  },
  {
    method: 'GET',
    path: '/cases/:id/sessions/:sid',
    does: 'returns one session',
    call: async () => call('GET', (await session()).path),
    status: 200,
    check: async ({ body }: Answered<Session>) => {
      assert.deepEqual([body.id, body.status], [(await session()).sid, 'plan_ready']);
    },
  },
  {
    method: 'PUT',
    path: '/cases/:id/sessions/:sid/comments',
    does: 'replaces what the operator says of the plan',
    call: async () => call('PUT', `${(await session()).path}/comments`, 'Shorter.\n'),
    status: 200,
    check: ({ text }: Answered<string>) => assert.equal(text, 'Shorter.\n'),
  },
  {
    method: 'GET',
    path: '/cases/:id/sessions/:sid/comments',
    does: 'reads what the operator says of the plan',
    call: async () => call('GET', `${(await session()).path}/comments`),
    status: 200,
    check: ({ text }: Answered<string>) => assert.equal(text, 'Shorter.\n'),
  },
  {
    method: 'GET',
    path: '/cases/:id/sessions/:sid/messages',
    does: 'lists what the operator said to the session',
    call: async () => call('GET', `${(await session()).path}/messages`),
    status: 200,
    check: ({ body }: Answered<object[]>) => assert.deepEqual(body, []),
  },
  {
    method: 'POST',
    path: '/cases/:id/sessions/:sid/messages',
    does: 'sends a message to a session, which to one that has ended begins another',
    call: async () => {
      const { id } = await newCase();
      const sessions = `/cases/${id}/sessions`;
      const { id: sid } = await made<Session>(sessions, { type: 'implementing' });
      await eventually(async () =>
        assert.equal((await get<Session>(`${sessions}/${sid}`)).status, 'plan_ready'),
      );
      await call('POST', `/api/cases/${id}/session/abort`);
      return call('POST', `${sessions}/${sid}/messages`, { text: 'Again, smaller.' });
    },
    status: 201,
    check: ({ body }: Answered<SessionMessage>) =>
      assert.deepEqual([body.id === body.session_id, body.text], [true, 'Again, smaller.']),
  },
  {
    method: 'POST',
    path: '/cases/:id/sessions/:sid/approve',
    does: 'approves the plan and moves the session to Work mode',
    call: async () => call('POST', `${(await session()).path}/approve`),
    status: 200,
    check: async ({ body }: Answered<Session>) => {
      assert.equal(body.mode, 'work');
      assert.equal((await call('POST', `${(await session()).path}/approve`)).status, 409);
    },
  },
  {
    method: 'GET',
    path: '/cases/:id/sessions/:sid/stream',
    does: 'streams the execution events until complete',
    call: async () => call('GET', `${(await session()).path}/stream`),
    status: 200,
    check: async ({ text }: Answered<string>) => {
      const told = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
      assert.ok(told.includes('plan_ready') && told.includes('diff'), told.join());
      assert.equal(told.at(-1), 'complete');
      const numbers = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
      );
      const path = `${(await session()).path}/stream`;
      const polled = await call<object[]>('GET', path, undefined, { accept: 'application/json' });
      assert.equal(polled.body.length, told.length);
    },
  },
];

describeRows('sessions', SESSIONS);
