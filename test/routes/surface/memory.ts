import assert from 'node:assert/strict';
import type { Answered } from '../../helpers/service.ts';
import { at, call, describeRows, get, made, newCase, type Row } from './surface.ts';

const MEMORY: Row[] = [
  {
    method: 'GET',
    path: '/cases/:id/memory/:filename',
    does: 'returns raw Markdown text',
    call: async () => {
      await call('PUT', `${await at()}/memory/notes.md`, '# Notes\n');
      return call('GET', `${await at()}/memory/notes.md`);
    },
    status: 200,
    check: ({ text, headers }: Answered<string>) => {
      assert.deepEqual(
        [text, headers['content-type']],
        ['# Notes\n', 'text/markdown; charset=utf-8'],
      );
    },
  },
  {
    method: 'PUT',
    path: '/cases/:id/memory/:filename',
    does: 'takes raw Markdown text',
    call: async () => call('PUT', `${await at()}/memory/other.md`, '# Other\n'),
    status: 200,
    check: async () =>
      assert.equal((await call('GET', `${await at()}/memory/other.md`)).text, '# Other\n'),
  },
  {
    method: 'POST',
    path: '/api/global-memory/write',
    does: 'writes global memory; guarded by the session lock',
    call: async () =>
      call('POST', '/api/global-memory/write', {
        content: '# Of all\n',
        mode: 'replace',
        case_id: (await newCase()).id,
      }),
    status: 200,
    check: async () => {
      assert.equal((await call('GET', '/api/global-memory/global.md')).text, '# Of all\n');
      const { id: case_id } = await newCase();
      await made(`/cases/${case_id}/sessions`, { type: 'implementing' });
      const held = { content: 'x', mode: 'append', case_id };
      assert.equal((await call('POST', '/api/global-memory/write', held)).status, 409);
    },
  },
  {
    method: 'POST',
    path: '/api/global-memory/snapshot',
    does: 'snapshots the global memory',
    call: async () => call('POST', '/api/global-memory/snapshot'),
    status: 201,
    check: async ({ body, headers }: Answered<{ id: string }>) =>
      assert.deepEqual(await get(String(headers.location)), body),
  },
];

describeRows('memory', MEMORY);
