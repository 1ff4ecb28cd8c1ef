/** Deliveries leave from a thread of their own: nobody who is slow, not the daemon either, keeps a fast receiver waiting. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSendingThread } from '../../../../lib/events/webhooks/sending-thread.ts';
import { settlesWithin } from '../../../../store/base/async.ts';
import { refreshGlobals } from '../../../../store/settings/globals.ts';
import { readDeliveries } from '../../../../store/webhooks/deliveries.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { openReceiver } from '../../../helpers/receiver.ts';
import { openReceiverThread, type ReceiverThread } from '../../../helpers/receiver-thread.ts';
import { temporaryDirectory } from '../../../helpers/repository.ts';
import { type Life, live } from './life.ts';

const STUCK = new URL('../../../helpers/stuck-worker.js', import.meta.url);

const OTHERS = 20;
const EVENTS = 40;
const ALL = Array<'case_updated'>(EVENTS).fill('case_updated');

interface Scene {
  life: Life;
  fast: ReceiverThread;
  /** Its registration. */
  id: string;
}

/** The first of forty events has come to a receiver that has not answered it yet. */
const scene = async (t: TestContext): Promise<Scene> => {
  const life = await live(t, { schedule: [3_600_000] });
  const fast = await openReceiverThread(t);
  const id = await life.register(fast.url);
  await life.happen(ALL);
  await eventually(() => assert.equal(fast.count(), 1));
  return { life, fast, id };
};

/** Writes the file of the registration by hand. */
const edit = async (
  { life, id }: Scene,
  url: string,
  events: string,
  isOpen = true,
): Promise<void> => {
  writeFileSync(
    join(life.root, 'webhooks', `${id}.md`),
    `---\nid: ${id}\nurl: ${url}\nevents: ['${events}']\ncreated_at: 2026-01-01T00:00:00Z\n---\n`,
  );
  if (!isOpen) return;
  await refreshGlobals(life.store);
  life.dispatcher.changed();
};

const notedOf = ({ life, id }: Scene) => readDeliveries(life.store.layout, id);

describe('a receiver that takes what it is sent', () => {
  it('has all events while the daemon does something else, and others hold their first', async (t) => {
    const life = await live(t, { schedule: [3_600_000] });
    const [fast, slow] = [await openReceiverThread(t), await openReceiver(t)];
    slow.script(...Array.from({ length: OTHERS }, () => 'silence' as const));
    for (let n = 0; n < OTHERS; n += 1) await life.register(`${slow.url}/${n}`);
    const id = await life.register(fast.url);
    await life.happen(ALL);
    await slow.atLeast(OTHERS);
    await eventually(() => assert.equal(fast.count(), 1));
    fast.allow(EVENTS);
    fast.blockUntil(EVENTS);
    await eventually(() => assert.equal(notedOf({ life, fast, id }).length, EVENTS));
    const noted = notedOf({ life, fast, id });
    assert.deepEqual(
      noted.map((line) => line.id),
      await fast.ids(),
      'in order, each once',
    );
    assert.ok(noted.every(({ outcome }) => outcome === 'delivered'));
    assert.equal(slow.received.length, OTHERS);
  });

  it('is not sent again what it got just before the daemon was stopped', async (t) => {
    const all = await scene(t);
    const { life, fast } = all;
    fast.allow(10);
    // The eleventh is held: it may come again.
    fast.blockUntil(11);
    await life.end();
    const before = await fast.ids();
    assert.equal(before.length, 11);
    await life.begin();
    assert.equal(notedOf(all).length, 10);
    fast.allow(1 + EVENTS);
    await eventually(() => assert.equal(notedOf(all).length, EVENTS));
    const ids = await fast.ids();
    assert.deepEqual(ids, [...before, ...ids.slice(11)]);
    assert.deepEqual(ids.slice(11).length, EVENTS - 10);
    assert.equal(new Set(ids).size, EVENTS);
  });

  it('gets what comes next at its new address once it has moved', async (t) => {
    const all = await scene(t);
    const { fast } = all;
    const next = await openReceiver(t);
    await edit(all, next.url, '*');
    fast.allow(EVENTS);
    await eventually(() => assert.equal(fast.count() + next.received.length, EVENTS));
    const moved = next.received.map(({ headers }) => String(headers['webhook-id']));
    assert.ok(moved.length > 0);
    await eventually(() => assert.equal(notedOf(all).length, EVENTS));
    assert.deepEqual(
      notedOf(all).map((line) => line.id),
      [...(await fast.ids()), ...moved],
    );
  });

  it('is not sent the rest of what was on its way once it no longer asks for it', async (t) => {
    const all = await scene(t);
    const { life, fast, id } = all;
    await edit(all, fast.url, 'proof_created');
    await life.happen(['proof_created']);
    const { value: wanted } = await life.dispatcher.waiting(id)[Symbol.asyncIterator]().next();
    fast.allow(1);
    await eventually(() => assert.ok(fast.count() > 1));
    assert.deepEqual((await fast.ids()).slice(1), [wanted.delivery_id]);
  });

  for (const [when, restarts] of [
    ['while it is retried', false],
    ['while no daemon ran', true],
  ] as const)
    it(`is not sent an event again that its registration stopped naming ${when}`, async (t) => {
      const life = await live(t, { schedule: [3_600_000] });
      const [receiver, fast] = [await openReceiver(t), await openReceiverThread(t)];
      receiver.script(500);
      const id = await life.register(receiver.url);
      const all = { life, fast, id };
      await life.happen(['case_updated']);
      await eventually(() => assert.equal(notedOf(all).at(-1)?.outcome, 'retrying'));
      if (restarts) await life.end();
      await edit(all, receiver.url, 'proof_created', !restarts);
      if (restarts) await life.begin();
      await life.happen(['proof_created']);
      const [, next] = await receiver.atLeast(2);
      assert.equal(next?.headers['x-service-event'], 'proof_created');
      await eventually(() => assert.equal(notedOf(all).length, 3));
      const [, ended] = notedOf(all);
      assert.deepEqual([ended?.outcome, ended?.next_at], ['failed', null]);
      assert.match(String(ended?.error), /no longer names this event/);
    });

  it('is sent nothing behind one that it did not take', async (t) => {
    const life = await live(t, { schedule: [3_600_000] });
    const receiver = await openReceiver(t);
    const id = await life.register(receiver.url);
    receiver.script(204, 204, 500);
    await life.happen(ALL);
    await eventually(() =>
      assert.equal(readDeliveries(life.store.layout, id).at(-1)?.outcome, 'retrying'),
    );
    assert.equal(receiver.received.length, 3);
    await life.dispatcher.redeliver(id, String(receiver.received[2]?.headers['webhook-id']));
    await receiver.atLeast(EVENTS + 1);
    assert.equal(receiver.received.length, EVENTS + 1);
  });
});

describe('a sending thread', () => {
  it('does not delay the end of the daemon while a name is looked up', async (t) => {
    const dir = temporaryDirectory(t);
    const pipe = join(dir, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const thread = createSendingThread(undefined, STUCK);
    thread.send([{ id: '', url: pipe, headers: {}, body: '', secret: '' }]);

    const isClosed = await settlesWithin(thread.close(), 20_000);

    // Lets the thread end, so that the process can. Opened for both, a pipe waits for nobody.
    const writer = openSync(pipe, 'r+');
    atEnd(t, () => closeSync(writer));
    assert.ok(isClosed);
  });
});
