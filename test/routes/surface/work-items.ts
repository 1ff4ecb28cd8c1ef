import assert from 'node:assert/strict';
import type { Case } from '../../../store/records/case.ts';
import type { Answered } from '../../helpers/service.ts';
import { at, call, describeRows, get, item, made, type Row } from './surface.ts';

const WORK_ITEMS: Row[] = [
  {
    method: 'GET',
    path: '/cases',
    does: 'lists Work items, by state and outcome',
    call: async () => {
      await item();
      return call('GET', '/cases?state=OPEN');
    },
    status: 200,
    check: async ({ body }: Answered<Case[]>) => {
      const { id } = await item();
      assert.ok(body.some((each) => each.id === id));
      assert.deepEqual(await get('/cases?state=OPEN&outcome=resolved'), []);
    },
  },
  {
    method: 'POST',
    path: '/cases',
    does: 'creates a Work item',
    call: () => call('POST', '/cases', { title: 'Made', type: 'bug' }),
    status: 201,
    check: async ({ body }: Answered<Case>) =>
      assert.deepEqual(await get(`/cases/${body.id}`), body),
  },
  {
    method: 'GET',
    path: '/cases/:id',
    does: 'returns the Work item',
    call: async () => call('GET', await at()),
    status: 200,
    check: async ({ body }: Answered<Case>) => assert.equal(body.id, (await item()).id),
  },
  {
    method: 'PUT',
    path: '/cases/:id',
    does: 'updates title or description',
    call: async () => call('PUT', await at(), { title: 'Another title' }),
    status: 200,
    check: ({ body }: Answered<Case>) => assert.equal(body.title, 'Another title'),
  },
  {
    method: 'DELETE',
    path: '/cases/:id',
    does: 'deletes the Work item',
    call: async () =>
      call('DELETE', `/cases/${(await made<Case>('/cases', { title: 'Goes', type: 'bug' })).id}`),
    status: 204,
    check: async () =>
      assert.ok(!(await get<Case[]>('/cases')).some(({ title }) => title === 'Goes')),
  },
  {
    method: 'PUT',
    path: '/cases/:id/state',
    does: 'sets the state directly',
    call: async () => call('PUT', `${await at()}/state`, { state: 'VERIFYING' }),
    status: 200,
    check: ({ body }: Answered<Case>) => assert.equal(body.state, 'VERIFYING'),
  },
];

describeRows('work-items', WORK_ITEMS);
