/** What sessions used, over everything that ends a turn and begins another. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Usage } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { withAgent, withCase } from '../helpers/sessions.ts';

describe('GET /cases/{id}/usage', () => {
  it('counts each turn once: revised, paused, cut off by a restart, resumed, aborted', async (t) => {
    const options = withAgent(t, 'meter');
    mkdirSync(join(options.env?.HOME ?? '', '.test-agent'));
    const { running, at, start, until, eventsOf, control, post } = await withCase(
      t,
      'Count.',
      options,
    );
    const used = async () => {
      const { body } = await running.call<Usage & { sessions: number }>('GET', `${at}/usage`);
      return [body.sessions, body.input_tokens, body.output_tokens, body.cost_usd];
    };
    const atLeast = async () => (await running.call<Usage>('GET', `${at}/usage`)).body.at_least;
    // The newest turn has told its cost.
    const told = () =>
      eventually(async () => {
        const events = await eventsOf(id);
        const began = events.findLastIndex(({ event }) => event === 'status');
        const { data } = events[began] ?? {};
        assert.equal(data?.status, 'working');
        assert.ok(events.slice(began).some((event) => typeof event.data.cost_usd === 'number'));
      });
    const { id } = await start();
    await until(id, 'plan_ready');
    assert.deepEqual(await used(), [1, 5, 1, 0.1]);
    await post(`/sessions/${id}/revise`, { comment: 'Shorter.' });
    await until(id, 'plan_ready');
    assert.deepEqual(await used(), [1, 10, 2, 0.2]);
    assert.equal(await atLeast(), undefined);
    await post(`/sessions/${id}/approve`);
    await told();
    await control('pause');
    assert.deepEqual(await used(), [1, 15, 3, 0.3]);
    assert.equal(await atLeast(), true);
    await control('resume');
    await told();
    await running.restart();
    await until(id, 'paused');
    assert.deepEqual(await used(), [1, 20, 4, 0.4]);
    assert.equal(await atLeast(), true);
    await running.restart();
    assert.deepEqual(await used(), [1, 20, 4, 0.4]);
    await control('resume');
    // It only speaks.
    await until(id, 'failed');
    assert.deepEqual(await used(), [1, 25, 5, 0.5]);
    // A second session of the same Work item, in a conversation of its own.
    const second = await start();
    await until(second.id, 'plan_ready');
    assert.equal((await control('abort')).body.usage?.cost_usd, 0.1);
    assert.deepEqual(await used(), [2, 30, 6, 0.6]);
  });
});
