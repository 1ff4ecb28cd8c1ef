import assert from 'node:assert/strict';
import type { Answered } from '../../helpers/service.ts';
import { call, describeRows, host, imported, type Row } from './surface.ts';

const LINKS: Row[] = [
  {
    method: 'GET',
    path: '/api/cases/:id/github',
    does: 'returns the link record, issue and PR',
    call: async () => call('GET', (await imported()).api),
    status: 200,
    check: async ({ body }: Answered<{ issue: { number: number }; pr: null }>) =>
      assert.deepEqual([body.issue.number, body.pr], [(await imported()).number, null]),
  },
  {
    method: 'POST',
    path: '/api/cases/:id/github/sync',
    does: 'syncs with the linked issue',
    call: async () => {
      const { api, number } = await imported();
      await host.issues.edit(number, { title: 'Renamed there' });
      return call('POST', `${api}/sync`);
    },
    status: 200,
    check: ({ body }: Answered<{ outcome: string }>) => assert.equal(body.outcome, 'updated'),
  },
  {
    method: 'GET',
    path: '/api/cases/:id/github/sync-log',
    does: 'returns the full sync log',
    call: async () => call('GET', `${(await imported()).api}/sync-log`),
    status: 200,
    check: ({ body }: Answered<{ outcome: string }[]>) =>
      assert.deepEqual(
        body.map(({ outcome }) => outcome),
        ['updated'],
      ),
  },
];

describeRows('links', LINKS);
