import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newestSession } from '../../../../../store/sessions/sessions.ts';
import { withCase } from '../../../../helpers/sessions.ts';

describe('a session that is created after the clock was set back', () => {
  it('is the newest of its Work item', async (t) => {
    const test = await withCase(t, '```sh\ntrue\n```\n');
    const { store } = test.service;
    await test.planned();
    await test.control('abort');
    const { clock } = store;
    Object.assign(store, { clock: () => new Date(clock().getTime() - 3_600_000) });
    const { id } = await test.planned();
    assert.equal(newestSession(store, test.item.id)?.session.id, id);
  });
});
