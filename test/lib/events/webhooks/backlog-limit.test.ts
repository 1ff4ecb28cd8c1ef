import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { listDeliveries, redeliver } from '../../../../lib/events/webhooks/deliveries.ts';
import type { Delivery } from '../../../../store/records/delivery.ts';
import { refreshGlobals } from '../../../../store/settings/globals.ts';
import { readDeliveries } from '../../../../store/webhooks/deliveries.ts';
import { removeRegistration } from '../../../../store/webhooks/webhooks.ts';
import { eventually, until } from '../../../helpers/eventually.ts';
import { listed } from '../../../helpers/listed.ts';
import { openReceiver } from '../../../helpers/receiver.ts';
import { type Life, live } from './life.ts';

const DEAD = 'http://127.0.0.1:9/';
const NEVER = [3_600_000];
const HUNDRED = Array<'case_updated'>(100).fill('case_updated');

const withSettings = async (life: Life, settings: string): Promise<void> => {
  writeFileSync(join(life.root, 'workspace.md'), `---\nwebhooks: { ${settings} }\n---\n`);
  await refreshGlobals(life.store);
};

const deliveriesOf = async (life: Life, id: string): Promise<Delivery[]> =>
  listed(await listDeliveries(life, undefined, id, {}));

const problemsOf = ({ store }: Life) =>
  store.problems.all().filter(({ code }) => code === 'backlog_closed');

const untilClosed = (life: Life): Promise<void> => until(() => problemsOf(life).length > 0);

/** A receiver that is dead, and more events for it than are kept. */
const tooMany = async (t: TestContext, count = 30) => {
  const life = await live(t, { schedule: NEVER });
  await withSettings(life, 'retention_mb: 0.2');
  const id = await life.register(DEAD);
  const items = Array.from({ length: count }, () => randomUUID());
  for (const item of items) await life.happen(HUNDRED, item);
  await untilClosed(life);
  return { life, id, items };
};

describe('a backlog over its bound', () => {
  it('is closed: listed with the deliveries, and kept no more', async (t) => {
    const { life, id, items } = await tooMany(t);
    await eventually(async () => {
      const all = await deliveriesOf(life, id);
      const closed = all.filter(({ status }) => status === 'closed');
      assert.ok(closed.length > 900, `${closed.length}`);
      const of = closed.map(({ body }) => (items as string[]).indexOf(body.payload.case_id ?? ''));
      assert.deepEqual(
        of,
        of.toSorted((a, b) => a - b),
      );
      assert.deepEqual(closed.at(-1)?.attempts, []);
    });
    assert.ok((life.store.journal.cursors.get(id) ?? 0) > 2000);
  });

  it('is a problem that says how many there are, over a restart too, until they are redelivered', async (t) => {
    const { life, id } = await tooMany(t);
    const [problem, ...others] = problemsOf(life);
    assert.deepEqual(others, []);
    assert.equal(problem?.file, `webhooks/${id}.md`);
    assert.match(problem.message, /^The backlog of this receiver was closed: \d+ events from /);
    await life.end();
    await life.begin();
    assert.deepEqual(problemsOf(life), [problem]);
    const closed = (await deliveriesOf(life, id)).filter(({ status }) => status === 'closed');
    assert.ok(closed.length > 900);
    const [first] = closed;
    const again = await redeliver(life, undefined, id, String(first?.id));
    assert.deepEqual([again.status, again.attempts.length > 0], ['failed', true]);
    assert.equal(problemsOf(life).length, 1, 'others are still closed');
    // As the log forgets them: of a thousand attempts the oldest go.
    const kept = readDeliveries(life.store.layout, id).filter(
      ({ outcome }) => outcome !== 'closed',
    );
    writeFileSync(
      join(life.store.layout.deliveries, `${id}.ndjson`),
      kept.map((line) => `${JSON.stringify(line)}\n`).join(''),
    );
    await life.end();
    await life.begin();
    assert.deepEqual(problemsOf(life), []);
  });

  it('is forgotten with its registration', async (t) => {
    const { life, id } = await tooMany(t);
    await removeRegistration(life.store, undefined, id);
    life.dispatcher.changed();
    await until(() => !life.store.journal.told.has(`backlog ${id}`));
    assert.deepEqual(problemsOf(life), []);
  });

  it('is none of a receiver that takes its events, and what comes later is sent', async (t) => {
    const life = await live(t, { schedule: NEVER });
    await withSettings(life, 'retention_mb: 0.2');
    const [dead, well] = [await life.register(DEAD), await openReceiver(t)];
    const other = await life.register(well.url);
    for (let n = 1; n <= 30; n += 1) {
      await life.happen(HUNDRED);
      await well.atLeast(100 * n);
    }
    await untilClosed(life);
    assert.equal(well.received.length, 3000);
    assert.ok(
      readDeliveries(life.store.layout, other).every(({ outcome }) => outcome === 'delivered'),
    );
    assert.ok(readDeliveries(life.store.layout, dead).some(({ outcome }) => outcome === 'closed'));
  });

  it('is closed by age where its first event failed, and not where it was not tried', async (t) => {
    const life = await live(t, { schedule: [5, 5, 3_600_000] });
    await withSettings(life, 'retention_hours: 0.000001');
    const receiver = await openReceiver(t);
    await life.register(receiver.url);
    await life.happen(['case_updated']);
    await receiver.atLeast(1);
    assert.deepEqual(problemsOf(life), []);
    const dead = await life.register(DEAD);
    await life.happen(['case_updated']);
    await untilClosed(life);
    assert.deepEqual(
      problemsOf(life).map(({ file }) => file),
      [`webhooks/${dead}.md`],
    );
  });

  it('leaves no files of the journal behind, whatever was written', async (t) => {
    const life = await live(t, { schedule: NEVER });
    await withSettings(life, 'retention_mb: 9');
    await life.register(DEAD);
    const long = 'x'.repeat(10_000);
    for (let n = 0; n < 30; n += 1) await life.happen(HUNDRED, `${n}${long}`);
    // 30 MB were written, and up to 9 MB are kept, in files that are removed whole.
    const dir = join(life.root, '.dossier/journal');
    const kept = () =>
      readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
    await until(() => kept() < 20 * 1_048_576);
    assert.ok(life.store.journal.behind(0) < 20 * 1_048_576);
  });

  it('leaves none behind either if an event comes while it is closed', async (t) => {
    const life = await live(t, { schedule: NEVER });
    await withSettings(life, 'retention_mb: 9');
    await life.register(DEAD);
    const { journal } = life.store;
    const { append } = journal;
    let closings = 0;
    t.mock.method(journal, 'append', async (change: Parameters<typeof append>[0]) => {
      if (change.told && change.cursor) {
        closings += 1;
        await life.happen(['case_updated']);
      }
      return append(change);
    });
    const long = 'x'.repeat(10_000);
    for (let n = 0; closings === 0; n += 1) await life.happen(HUNDRED, `${n}${long}`);
    await until(() => journal.oldest > 0);
  });
});

describe('receivers that hang', () => {
  it('keep no slot of those that answer once one attempt has failed', async (t) => {
    const life = await live(t, { schedule: [1, 1] });
    const receiver = await openReceiver(t);
    const dead = await life.register(DEAD);
    await life.register(receiver.url);
    await life.happen(Array(20).fill('case_updated'));
    assert.equal((await receiver.atLeast(20)).length, 20);
    await until(() => readDeliveries(life.store.layout, dead).length === 60);
  });
});
