import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AttentionItem } from '../../../../../store/records/attention.ts';
import { newestSession } from '../../../../../store/sessions/sessions.ts';
import { eventually } from '../../../../helpers/eventually.ts';
import { withCase } from '../../../../helpers/sessions.ts';

describe('a session that is created after the clock was set back', () => {
  for (const [by, ms] of [
    ['an hour', 3_600_000],
    ['40 days', 40 * 86_400_000],
  ] as const)
    it(`is the newest of its Work item: by ${by}`, async (t) => {
      const test = await withCase(t, '```sh\ntrue\n```\n');
      const { store } = test.service;
      await test.planned();
      await test.control('abort');
      const { clock } = store;
      Object.assign(store, { clock: () => new Date(clock().getTime() - ms) });
      const { id } = await test.planned();
      assert.equal(newestSession(store, test.item.id)?.session.id, id);
    });

  it('is in the inbox if it fails', async (t) => {
    const test = await withCase(t, '```sh\nfalse\n```\n');
    const { store } = test.service;
    await test.planned();
    await test.control('abort');
    const { clock } = store;
    Object.assign(store, { clock: () => new Date(clock().getTime() - 3_600_000) });
    const { id } = await test.worked('failed');
    await eventually(async () => {
      const { body } = await test.call<AttentionItem[]>('GET', '/attention');
      assert.deepEqual(
        body.map(({ kind, session_id }) => [kind, session_id]),
        [['failed', id]],
      );
    });
  });
});
