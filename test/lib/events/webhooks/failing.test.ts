import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { redeliver } from '../../../../lib/events/webhooks/deliveries.ts';
import { insertCase } from '../../../../store/cases/cases.ts';
import { refreshGlobals } from '../../../../store/settings/globals.ts';
import { readDeliveries } from '../../../../store/webhooks/deliveries.ts';
import { removeRegistration } from '../../../../store/webhooks/webhooks.ts';
import { until } from '../../../helpers/eventually.ts';
import { openReceiver } from '../../../helpers/receiver.ts';
import { type Life, live } from './life.ts';

const NEVER = 3_600_000;
// The fifth attempt is the first that is told.
const SCHEDULE = [1, 1, 1, 1, NEVER];

const problemsOf = ({ store }: Life) =>
  store.problems.all().filter(({ code }) => code === 'receiver_failing');

/** A receiver that responded with 500 to all attempts of one delivery so far. */
const failing = async (t: TestContext, schedule: readonly number[] = SCHEDULE) => {
  const [life, receiver] = [await live(t, { schedule }), await openReceiver(t)];
  receiver.script(500, 500, 500, 500, 500);
  const id = await life.register(receiver.url);
  await life.happen(['case_updated']);
  await until(() => problemsOf(life).length > 0);
  const [delivery] = readDeliveries(life.store.layout, id);
  return { life, id, delivery: delivery?.id ?? '' };
};

describe('a receiver that does not accept a delivery', () => {
  it('is a problem of its file from the fifth attempt on, over a restart too', async (t) => {
    const { life, id, delivery } = await failing(t);
    const [problem, ...others] = problemsOf(life);
    assert.deepEqual(others, []);
    assert.equal(problem?.file, `webhooks/${id}.md`);
    const start =
      'This receiver did not accept a delivery in 5 attempts, the last time: it responded with 500. ';
    assert.ok(problem.message.startsWith(start), problem.message);
    assert.match(problem.message, /The next attempt is at \d{4}-/);
    assert.ok(problem.message.includes(`/webhooks/${id}/deliveries/${delivery}/redeliver`));
    await life.end();
    await life.begin();
    assert.deepEqual(problemsOf(life), [problem]);
  });

  it('is a problem still once the delivery is given up', async (t) => {
    const { life } = await failing(t, SCHEDULE.slice(0, 4));
    assert.match(problemsOf(life)[0]?.message ?? '', /It is not retried/);
    await life.end();
    await life.begin();
    assert.equal(problemsOf(life).length, 1);
  });

  it('is no problem once it accepts one', async (t) => {
    const { life, id, delivery } = await failing(t);
    await redeliver(life, undefined, id, delivery);
    assert.deepEqual(problemsOf(life), []);
  });

  it('is no problem once its file has another address', async (t) => {
    const { life, id } = await failing(t);
    const other = await openReceiver(t);
    other.script(500);
    const file = join(life.root, 'webhooks', `${id}.md`);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/url: .*/, `url: ${other.url}`));
    await refreshGlobals(life.store);
    life.dispatcher.changed();
    assert.deepEqual(problemsOf(life), []);
  });

  it('is no problem once its registration is removed', async (t) => {
    const { life, id } = await failing(t);
    await removeRegistration(life.store, undefined, id);
    life.dispatcher.changed();
    assert.deepEqual(problemsOf(life), []);
  });

  it('of one Work item is told with the path of its redelivery', async (t) => {
    const [life, receiver] = [await live(t, { schedule: SCHEDULE }), await openReceiver(t)];
    receiver.script(500, 500, 500, 500, 500);
    const { id: scope } = await insertCase(life.store, { matter: matterOf(), description: '' });
    const id = await life.register(receiver.url, {}, scope);
    await life.happen(['case_updated'], scope);
    await until(() => problemsOf(life).length > 0);
    const { message } = problemsOf(life)[0] ?? assert.fail();
    assert.ok(message.includes(` POST /cases/${scope}/webhooks/${id}/deliveries/`), message);
  });
});

const matterOf = () => ({
  id: randomUUID(),
  title: 'Something',
  type: 'bug',
  state: 'OPEN' as const,
  created_at: new Date().toISOString(),
});
