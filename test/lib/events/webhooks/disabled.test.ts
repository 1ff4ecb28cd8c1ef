import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { lockOn } from '../../../../store/base/locks.ts';
import { insertCase } from '../../../../store/cases/cases.ts';
import { refreshGlobals } from '../../../../store/settings/globals.ts';
import { readDeliveries } from '../../../../store/webhooks/deliveries.ts';
import { registrationsOf, type Scope } from '../../../../store/webhooks/webhooks.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { until } from '../../../helpers/eventually.ts';
import { openReceiver } from '../../../helpers/receiver.ts';
import { type Life, live } from './life.ts';

const fileOf = ({ root }: Life, id: string): string => join(root, 'webhooks', `${id}.md`);

const editFile = (life: Life, id: string, from: string, to: string): void =>
  writeFileSync(fileOf(life, id), readFileSync(fileOf(life, id), 'utf8').replace(from, to));

const reread = async ({ store, dispatcher }: Life): Promise<void> => {
  await refreshGlobals(store);
  dispatcher.changed();
};

const outcomesOf = ({ store }: Life, id: string): string[] =>
  readDeliveries(store.layout, id).map(({ outcome, body }) => `${outcome} ${body.event_type}`);

const problemsOf = ({ store }: Life) =>
  store.problems.all().filter(({ code }) => code === 'backlog_closed');

const untilForgotten = ({ store }: Life, id: string): Promise<void> =>
  until(() => !store.journal.cursors.has(id));

/** A receiver that responded with 410, so that its registration was disabled while an event waited. */
const disabled = async (t: TestContext) => {
  const [life, receiver] = [await live(t), await openReceiver(t)];
  receiver.script(410);
  const id = await life.register(receiver.url);
  await life.happen(['case_updated', 'proof_created']);
  await untilForgotten(life, id);
  return { life, id, receiver };
};

/** What is listed for a receiver that responds with 410, where an event comes before its registration is disabled. */
const listedAfter410 = async (t: TestContext, life: Life, scope: Scope): Promise<string[]> => {
  const receiver = await openReceiver(t);
  receiver.script(410);
  const id = await life.register(receiver.url, {}, scope);
  const key = scope === undefined ? lockOn.webhooks() : lockOn.item(scope);
  await life.store.locks.take(key, async () => {
    await life.happen(['case_updated'], scope);
    await until(() => readDeliveries(life.store.layout, id).length === 1);
    await life.happen(['proof_created'], scope);
  });
  await untilForgotten(life, id);
  return outcomesOf(life, id);
};

describe('the backlog of a webhook that is disabled', () => {
  it('is closed with what came until then, of a registration of all Work items', async (t) => {
    const listed = await listedAfter410(t, await live(t), undefined);
    assert.deepEqual(listed, ['failed case_updated', 'closed proof_created']);
  });

  it('is closed with what came until then, of a registration of one Work item', async (t) => {
    const life = await live(t);
    const matter = {
      id: randomUUID(),
      title: 'Something',
      type: 'bug',
      state: 'OPEN' as const,
      created_at: new Date().toISOString(),
    };
    const { id } = await insertCase(life.store, { matter, description: '' });
    const listed = await listedAfter410(t, life, id);
    assert.deepEqual(listed, ['failed case_updated', 'closed proof_created']);
  });

  it('is closed if it was disabled by hand while no daemon ran', async (t) => {
    const [life, receiver] = [await live(t, { schedule: [60_000] }), await openReceiver(t)];
    receiver.script(500);
    const id = await life.register(receiver.url);
    await life.happen(['case_updated', 'proof_created']);
    await until(() => readDeliveries(life.store.layout, id).length === 1);
    await life.end();
    editFile(life, id, 'id:', 'disabled: true\nid:');

    await life.begin();

    await untilForgotten(life, id);
    assert.deepEqual(outcomesOf(life, id), [
      'retrying case_updated',
      'closed case_updated',
      'closed proof_created',
    ]);
  });

  it('has no delivery that the log of attempts shows as delivered, after a crash', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    const id = await life.register(receiver.url);
    await life.happen(['case_updated']);
    await until(() => readDeliveries(life.store.layout, id).length === 1);
    const { seq = 0 } = readDeliveries(life.store.layout, id)[0] ?? {};
    await until(() => life.store.journal.cursors.get(id) === seq);
    await life.store.journal.append({ cursor: { id, seq: seq - 1 } });
    await life.end();
    editFile(life, id, 'id:', 'disabled: true\nid:');

    await life.begin();

    await untilForgotten(life, id);
    assert.deepEqual(outcomesOf(life, id), ['delivered case_updated']);
    assert.deepEqual(problemsOf(life), []);
  });

  it('is a problem with the reason, over a restart, until all of it is redelivered', async (t) => {
    const { life, id } = await disabled(t);
    const problems = problemsOf(life);
    assert.match(
      problems[0]?.message ?? '',
      /: 1 events from .* since the webhook was disabled\. /,
    );

    await life.end();
    await life.begin();
    assert.deepEqual(problemsOf(life), problems);

    editFile(life, id, 'disabled: true\n', '');
    await reread(life);
    assert.deepEqual(problemsOf(life), problems);

    await life.dispatcher.redeliver(id, readDeliveries(life.store.layout, id).at(-1)?.id ?? '');
    assert.deepEqual(problemsOf(life), []);
  });

  it('stays recorded when the webhook is disabled again and nothing waits', async (t) => {
    const { life, id } = await disabled(t);
    const problems = problemsOf(life);
    editFile(life, id, 'disabled: true\n', '');
    await reread(life);

    editFile(life, id, 'id:', 'disabled: true\nid:');
    await reread(life);

    await untilForgotten(life, id);
    assert.equal(problems.length, 1);
    assert.deepEqual(problemsOf(life), problems);
  });

  it('is no problem any more once the file of the webhook is removed', async (t) => {
    const { life, id } = await disabled(t);
    assert.equal(problemsOf(life).length, 1);
    rmSync(fileOf(life, id));

    await until(async () => {
      await reread(life);
      return registrationsOf(life.store, undefined).length === 0;
    });

    assert.deepEqual(problemsOf(life), []);
  });

  it('leaves the delivery that got 410 listed, however much waited', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    receiver.script(410);
    const id = await life.register(receiver.url);
    await life.happen(['proof_created', ...Array<'case_updated'>(1100).fill('case_updated')]);
    await untilForgotten(life, id);

    const listed = outcomesOf(life, id);
    assert.equal(listed[0], 'failed proof_created');
    assert.equal(listed.at(-1), 'closed case_updated');
  });

  it('is sent, and not closed, if the webhook is enabled again before', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    receiver.script(410);
    const id = await life.register(receiver.url);
    const { journal } = life.store;
    const { after } = journal;
    t.mock.method(journal, 'after', async function* (seq: number) {
      if (/^disabled: true$/m.test(readFileSync(fileOf(life, id), 'utf8'))) {
        editFile(life, id, 'disabled: true\n', '');
        await reread(life);
      }
      yield* after(seq);
    });

    await life.happen(['case_updated', 'proof_created']);

    await until(() => outcomesOf(life, id).includes('delivered proof_created'));
    assert.deepEqual(outcomesOf(life, id), ['failed case_updated', 'delivered proof_created']);
    assert.equal(journal.cursors.has(id), true);
  });

  it('is sent, and not closed, if the webhook cannot be disabled', async (t) => {
    const life = await live(t);
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    atEnd(t, () => {
      server.closeAllConnections();
      server.close();
    });
    const id = await life.register(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const first = once(server, 'request');
    await life.happen(['case_updated', 'proof_created']);
    const [, response] = (await first) as [unknown, ServerResponse];
    // A file that vanished a moment ago still counts, but cannot be edited.
    rmSync(fileOf(life, id));
    const second = once(server, 'request');
    response.writeHead(410).end();
    const [, other] = (await second) as [unknown, ServerResponse];
    other.writeHead(204).end();

    await until(() => outcomesOf(life, id).includes('delivered proof_created'));
    assert.deepEqual(outcomesOf(life, id), ['failed case_updated', 'delivered proof_created']);
    assert.equal(registrationsOf(life.store, undefined)[0]?.matter.disabled, undefined);
  });
});
