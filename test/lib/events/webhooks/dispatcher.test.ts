import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { deliveryId } from '../../../../lib/events/webhooks/attempt.ts';
import { deleteCase, insertCase, updateCase } from '../../../../store/cases/cases.ts';
import { itemOf } from '../../../../store/reconcile/items.ts';
import { reconcile } from '../../../../store/reconcile/reconcile.ts';
import { refreshGlobals } from '../../../../store/settings/globals.ts';
import type { Store } from '../../../../store/store.ts';
import { readDeliveries } from '../../../../store/webhooks/deliveries.ts';
import { disableRegistration, registrationsOf } from '../../../../store/webhooks/webhooks.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { eventually, until } from '../../../helpers/eventually.ts';
import { listed } from '../../../helpers/listed.ts';
import { openReceiver, type Received } from '../../../helpers/receiver.ts';
import { filesOf } from '../../../helpers/workspace.ts';
import { type Life, live, SECRET } from './life.ts';

const typesOf = (received: Received[]): string[] =>
  received.map(({ body }) => JSON.parse(body).event_type);
const idsOf = (received: Received[]): unknown[] =>
  received.map(({ headers }) => headers['x-service-delivery']);

const newCase = async (store: Store): Promise<string> => {
  const matter = {
    id: randomUUID(),
    title: 'Something',
    type: 'bug',
    state: 'OPEN' as const,
    created_at: new Date().toISOString(),
  };
  return (await insertCase(store, { matter, description: '' })).id;
};

/** What the watcher does when global registrations were changed by hand. */
const reread = async ({ store, dispatcher }: Life): Promise<void> => {
  await refreshGlobals(store);
  dispatcher.changed();
};

const pending = async ({ store }: Life): Promise<number> =>
  (await listed(store.journal.after(0))).length;

describe('a delivery', () => {
  it('is the event alone, with its type, its id and signatures that hold', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    await life.register(`${receiver.url}?token=1`);
    const id = await newCase(life.store);

    await updateCase(life.store, id, () => ({ title: 'Something else' }));

    const [{ path, headers, body }] = (await receiver.atLeast(1)) as [Received];
    const event = JSON.parse(body);
    assert.equal(path, '/hook?token=1');
    assert.deepEqual(event, {
      event_type: 'case_updated',
      timestamp: event.timestamp,
      payload: { case_id: id },
    });
    assert.match(event.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const hmac = createHmac('sha256', SECRET).update(body).digest('hex');
    assert.equal(headers['x-service-signature'], `sha256=${hmac}`);
    assert.equal(headers['x-service-event'], 'case_updated');
    assert.match(String(headers['x-service-delivery']), /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    assert.equal(headers['webhook-id'], headers['x-service-delivery']);
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['user-agent'], 'Dossier/1.2.3');
    const verifier = new Webhook(SECRET, { format: 'raw' });
    assert.deepEqual(verifier.verify(body, headers as Record<string, string>), event);
  });

  it('is not looked for again by the next life among what was not wanted', async (t) => {
    const life = await live(t);
    const id = await life.register('http://127.0.0.1:9/', { events: ['proof_created'] });
    await life.happen(['case_updated', 'agent_completed']);
    await eventually(async () => assert.equal(await pending(life), 0));
    const { last } = life.store.journal;
    await life.end();
    await life.begin();
    assert.equal(life.store.journal.cursors.get(id), last);
  });

  it('goes only to those who asked for its type', async (t) => {
    const [life, picky, open] = [await live(t), await openReceiver(t), await openReceiver(t)];
    await life.register(picky.url, { events: ['proof_created', 'session_completed'] });
    await life.register(open.url, { events: ['*'] });

    await life.happen(['case_updated', 'proof_created', 'agent_completed', 'session_completed']);

    assert.equal((await open.atLeast(4)).length, 4);
    assert.deepEqual(typesOf(await picky.atLeast(2)), ['proof_created', 'session_completed']);
  });

  it('of a case-scoped registration is of its Work item alone', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    const [one, other] = [await newCase(life.store), await newCase(life.store)];
    await life.register(receiver.url, {}, one);

    await updateCase(life.store, other, () => ({ title: 'Not this' }));
    await updateCase(life.store, one, () => ({ title: 'This' }));

    const [{ body }] = (await receiver.atLeast(1)) as [Received];
    assert.equal(JSON.parse(body).payload.case_id, one);
    await until(async () => (await pending(life)) === 0);
    assert.equal(receiver.received.length, 1);
  });

  it('begins with what happens after the registration', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    await life.happen(['case_updated']);
    await life.register(receiver.url);

    await life.happen(['proof_created']);

    assert.deepEqual(typesOf(await receiver.atLeast(1)), ['proof_created']);
  });

  it('is tried again with the same id and body until it is taken, and others wait their turn', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    receiver.script(500, 302, 204);
    const id = await life.register(receiver.url);

    await life.happen(['case_updated', 'proof_created']);

    const received = await receiver.atLeast(4);
    assert.deepEqual(typesOf(received), [
      'case_updated',
      'case_updated',
      'case_updated',
      'proof_created',
    ]);
    const [first, second, third, fourth] = idsOf(received);
    assert.deepEqual([second, third], [first, first]);
    assert.notEqual(fourth, first);
    assert.equal(received[2]?.body, received[0]?.body);
    await until(() => readDeliveries(life.store.layout, id).length === 4);
    const outcomes = readDeliveries(life.store.layout, id).map((line) => [
      line.status,
      line.outcome,
    ]);
    assert.deepEqual(outcomes, [
      [500, 'retrying'],
      [302, 'retrying'],
      [204, 'delivered'],
      [204, 'delivered'],
    ]);
  });

  it('follows no redirect', async (t) => {
    const [life, receiver, elsewhere] = [
      await live(t),
      await openReceiver(t),
      await openReceiver(t),
    ];
    receiver.script({ status: 307, headers: { location: elsewhere.url } });
    await life.register(receiver.url);

    await life.happen(['case_updated']);

    await receiver.atLeast(2);
    assert.equal(elsewhere.received.length, 0);
  });

  it('is kept as failed after the last retry, and the next goes on', async (t) => {
    const [life, receiver] = [await live(t, { schedule: [1, 1] }), await openReceiver(t)];
    receiver.script(500, 500, 500);
    const id = await life.register(receiver.url);

    await life.happen(['case_updated', 'proof_created']);

    assert.equal(typesOf(await receiver.atLeast(4)).at(-1), 'proof_created');
    const lines = readDeliveries(life.store.layout, id);
    assert.deepEqual(
      lines.slice(0, 3).map(({ outcome }) => outcome),
      ['retrying', 'retrying', 'failed'],
    );
    assert.ok(
      life.logged.some(({ level, message }) => level === 'warn' && /delivery failed/.test(message)),
    );
  });

  it('says why there was no answer', async (t) => {
    const [life, receiver] = [await live(t, { schedule: [] }), await openReceiver(t)];
    await receiver.close();
    const id = await life.register(receiver.url);

    await life.happen(['case_updated']);

    await until(() => readDeliveries(life.store.layout, id).length === 1);
    const [line] = readDeliveries(life.store.layout, id);
    assert.equal(line?.status, null);
    assert.match(line?.error ?? '', /^ECONNREFUSED/);
  });

  it('waits for a slow receiver without holding back another', async (t) => {
    const [life, slow, quick] = [await live(t), await openReceiver(t), await openReceiver(t)];
    slow.script('silence');
    await life.register(slow.url);
    await life.register(quick.url);

    await life.happen(Array.from({ length: 20 }, () => 'case_updated' as const));

    await quick.atLeast(20);
    assert.equal(slow.received.length, 1);
  });

  it('reaches one receiver while a hundred others say nothing', async (t) => {
    const [life, silent, quick] = [await live(t), await openReceiver(t), await openReceiver(t)];
    silent.script(...Array.from({ length: 100 }, () => 'silence' as const));
    for (let count = 0; count < 100; count += 1) await life.register(`${silent.url}/${count}`);
    await life.register(quick.url);

    await life.happen(['case_updated', 'proof_created']);

    await quick.atLeast(2);
    assert.equal((await silent.atLeast(100)).length, 100);
  });

  it('that gets 410 disables the registration: in its file, and for good', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    receiver.script(410);
    const id = await life.register(receiver.url);

    await life.happen(['case_updated', 'proof_created']);
    await until(() =>
      /^disabled: true$/m.test(readFileSync(join(life.root, 'webhooks', `${id}.md`), 'utf8')),
    );
    await until(async () => (await pending(life)) === 0);
    await life.happen(['case_updated']);
    await until(async () => (await pending(life)) === 0);

    assert.equal(receiver.received.length, 1);
    assert.equal(life.store.journal.cursors.has(id), false);
    assert.equal(existsSync(join(life.store.layout.secrets, id)), true);
  });

  it('that gets 410 lists what waited behind it, to be redelivered once it is enabled', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    receiver.script(410);
    const id = await life.register(receiver.url);
    const file = join(life.root, 'webhooks', `${id}.md`);
    await life.happen(['case_updated', 'proof_created']);
    await until(() => /^disabled: true$/m.test(readFileSync(file, 'utf8')));
    // What waited is closed after the registration is disabled.
    await until(() => readDeliveries(life.store.layout, id).length === 2);

    const tried = readDeliveries(life.store.layout, id);
    writeFileSync(file, readFileSync(file, 'utf8').replace('disabled: true\n', ''));
    await reread(life);
    await life.dispatcher.redeliver(id, tried.at(-1)?.id ?? '');

    assert.deepEqual(
      tried.map(({ outcome, body }) => [outcome, body.event_type]),
      [
        ['failed', 'case_updated'],
        ['closed', 'proof_created'],
      ],
    );
    assert.deepEqual(typesOf(receiver.received), ['case_updated', 'proof_created']);
  });

  it('that gets 410 disables a case-scoped registration too', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    receiver.script(410);
    const caseId = await newCase(life.store);
    await life.register(receiver.url, {}, caseId);

    await updateCase(life.store, caseId, () => ({ title: 'One' }));
    await until(() => registrationsOf(life.store, caseId)[0]?.matter.disabled === true);
    await updateCase(life.store, caseId, () => ({ title: 'Two' }));
    await until(async () => (await pending(life)) === 0);

    assert.equal(receiver.received.length, 1);
    assert.deepEqual(life.reported, []);
  });
});

describe('the journal', () => {
  it('keeps no events when nobody wants any', async (t) => {
    const life = await live(t);

    await life.happen(['case_updated', 'proof_created']);

    await until(async () => (await pending(life)) === 0);
  });

  it('keeps an event until the last receiver has it', async (t) => {
    const [life, slow, quick] = [await live(t), await openReceiver(t), await openReceiver(t)];
    slow.script('silence');
    await life.register(slow.url);
    await life.register(quick.url);

    await life.happen(['case_updated']);
    await quick.atLeast(1);
    await slow.atLeast(1);

    assert.equal(await pending(life), 1);
  });
});

describe('a restart', () => {
  it('delivers what was not delivered, in order, and nothing twice', async (t) => {
    const [life, receiver] = [await live(t, { schedule: [60_000] }), await openReceiver(t)];
    const id = await life.register(receiver.url);
    await life.happen(['session_started']);
    await receiver.atLeast(1);
    receiver.script(500);
    await life.happen(['case_updated', 'proof_created']);
    await until(() => readDeliveries(life.store.layout, id).length === 2);
    await life.end();
    assert.deepEqual(typesOf(receiver.received), ['session_started', 'case_updated']);

    await life.begin();
    await life.dispatcher.redeliver(id, String(idsOf(receiver.received)[1]));

    assert.deepEqual(typesOf(await receiver.atLeast(4)), [
      'session_started',
      'case_updated',
      'case_updated',
      'proof_created',
    ]);
    assert.equal(idsOf(receiver.received)[2], idsOf(receiver.received)[1]);
  });

  it('goes on counting where it was, and waits for the time that was set', async (t) => {
    const [life, receiver] = [await live(t, { schedule: [1, 60_000] }), await openReceiver(t)];
    receiver.script(500, 500);
    const id = await life.register(receiver.url);
    await life.happen(['case_updated']);
    await until(() => readDeliveries(life.store.layout, id).length === 2);

    await life.end();
    await life.begin();
    const [waiting] = await listed(life.dispatcher.waiting(id));
    await life.dispatcher.redeliver(id, waiting?.delivery_id ?? '');

    assert.equal(receiver.received.length, 3);
    assert.deepEqual(
      readDeliveries(life.store.layout, id).map(({ attempt, outcome }) => [attempt, outcome]),
      [
        [1, 'retrying'],
        [2, 'retrying'],
        [3, 'delivered'],
      ],
    );
  });

  it('waits for no time that a clock was set back from', async (t) => {
    const [life, receiver] = [await live(t, { schedule: [60_000] }), await openReceiver(t)];
    receiver.script(500);
    const id = await life.register(receiver.url);
    await life.happen(['case_updated']);
    await until(() => readDeliveries(life.store.layout, id).length === 1);
    await life.end();
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 });
    await life.begin();
    assert.deepEqual(typesOf(await receiver.atLeast(2)), ['case_updated', 'case_updated']);
  });

  it('finds in the log what was delivered when the cursor was lost', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    const id = await life.register(receiver.url);
    await life.happen(['case_updated']);
    await until(() => readDeliveries(life.store.layout, id).length === 1);
    const { seq = 0 } = readDeliveries(life.store.layout, id)[0] ?? {};
    await until(() => life.store.journal.cursors.get(id) === seq);
    await life.store.journal.append({ cursor: { id, seq: seq - 1 } });
    await life.end();

    await life.begin();
    await life.happen(['proof_created']);

    assert.deepEqual(typesOf(await receiver.atLeast(2)), ['case_updated', 'proof_created']);
  });

  it('stops promptly while a receiver says nothing, and delivers that event later', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    receiver.script('silence');
    const id = await life.register(receiver.url);
    await life.happen(['case_updated']);
    await receiver.atLeast(1);

    await life.end();
    await life.begin();

    const received = await receiver.atLeast(2);
    assert.equal(idsOf(received)[1], idsOf(received)[0]);
    await until(() => readDeliveries(life.store.layout, id).length === 1);
  });

  it('forgets what is left of registrations that were removed meanwhile', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    const [id, kept] = [await life.register(receiver.url), await life.register(receiver.url)];
    await life.happen(['case_updated']);
    await receiver.atLeast(2);
    await life.end();
    rmSync(join(life.root, 'webhooks', `${id}.md`));

    await life.begin();

    const { layout, journal } = life.store;
    assert.deepEqual(readdirSync(layout.secrets), [kept]);
    assert.deepEqual(readdirSync(layout.deliveries), [`${kept}.ndjson`]);
    await until(() => !journal.cursors.has(id));
    assert.equal(journal.cursors.has(kept), true);
  });

  it('keeps all secrets while a registration cannot be read', async (t) => {
    const life = await live(t);
    const id = await life.register('http://127.0.0.1:9/');
    await life.end();
    const path = join(life.root, 'webhooks', `${id}.md`);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('url:', 'url'));

    await life.begin();

    assert.deepEqual(readdirSync(life.store.layout.secrets), [id]);
  });
});

describe('a receiver that was down for long', () => {
  it('gets every event once, in order, though few of them are in memory', async (t) => {
    const [life, receiver] = [await live(t, { schedule: [60_000] }), await openReceiver(t)];
    receiver.script(500);
    const id = await life.register(receiver.url);
    const cases = Array.from({ length: 2100 }, () => randomUUID());
    await Promise.all(cases.map((one) => life.happen(['case_updated'], one)));
    await until(() => readDeliveries(life.store.layout, id).length === 1);
    const events = await listed(life.store.journal.after(0));
    await life.end();

    await life.begin();
    const [head = assert.fail()] = await listed(life.dispatcher.waiting(id));
    await life.dispatcher.redeliver(id, head.delivery_id);
    // However busy the machine is: they come one after the other.
    await eventually(() => assert.ok(receiver.received.length > cases.length), 120_000);

    const [first, ...others] = receiver.received;
    assert.equal(first?.headers['webhook-id'], head.delivery_id);
    assert.deepEqual(
      idsOf(others),
      events.map((event) => deliveryId(event.id, id)),
    );
    assert.deepEqual(
      others.map(({ body }) => JSON.parse(body).payload.case_id),
      cases,
    );
  });

  it('is still owed them when its registration can be read again', async (t) => {
    const [life, receiver] = [await live(t, { schedule: [60_000] }), await openReceiver(t)];
    receiver.script(500);
    const id = await life.register(receiver.url);
    await life.happen(['case_updated', 'proof_created']);
    await until(() => readDeliveries(life.store.layout, id).length === 1);
    await life.end();
    const path = join(life.root, 'webhooks', `${id}.md`);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('url:', 'url'));

    await life.begin();
    await life.happen(['agent_completed']);
    await new Promise(setImmediate);
    writeFileSync(path, text);
    await reread(life);
    const [head = assert.fail()] = await listed(life.dispatcher.waiting(id));
    await life.dispatcher.redeliver(id, head.delivery_id);

    const received = await receiver.atLeast(4);
    const types = ['case_updated', 'case_updated', 'proof_created', 'agent_completed'];
    assert.deepEqual(typesOf(received), types);
  });
});

describe('a registration made by hand', () => {
  const write = (root: string, name: string, lines: string): void => {
    mkdirSync(join(root, 'webhooks'), { recursive: true });
    writeFileSync(join(root, 'webhooks', name), `---\n${lines}\n---\n`);
  };

  it('needs its url alone: the daemon adds the rest and makes a secret nobody else can read', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    write(life.root, 'mine.md', `# my own\nurl: ${receiver.url}`);
    await reread(life);

    await life.happen(['case_updated']);

    const [{ body, headers }] = (await receiver.atLeast(1)) as [Received];
    const [{ matter } = assert.fail()] = registrationsOf(life.store, undefined);
    const path = join(life.store.layout.secrets, matter.id);
    const secret = readFileSync(path, 'utf8').trimEnd();
    assert.match(secret, /^whsec_/);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.ok(new Webhook(secret).verify(body, headers as Record<string, string>));
    const file = readFileSync(join(life.root, 'webhooks', 'mine.md'), 'utf8');
    assert.match(file, /^---\n# my own\nurl: .*\nid: .*\ncreated_at: /);
  });

  it('that moves to another address is tried there at once', async (t) => {
    const [life, right] = [await live(t, { schedule: [60_000] }), await openReceiver(t)];
    const wrong = await openReceiver(t);
    wrong.script(500);
    const id = await life.register(wrong.url);
    await life.happen(['case_updated']);
    await until(() => readDeliveries(life.store.layout, id).length === 1);

    write(
      life.root,
      `${id}.md`,
      `id: ${id}\nurl: ${right.url}\ncreated_at: 2026-01-01T00:00:00.000Z`,
    );
    await reread(life);

    await right.atLeast(1);
  });

  it('that moves is not disabled by a 410 of its former address', async (t) => {
    const [life, right] = [await live(t), await openReceiver(t)];
    const former = createServer();
    await once(former.listen(0, '127.0.0.1'), 'listening');
    atEnd(t, () => {
      former.closeAllConnections();
      former.close();
    });
    const id = await life.register(`http://127.0.0.1:${(former.address() as AddressInfo).port}/`);
    const request = once(former, 'request');
    await life.happen(['case_updated']);
    const [, response] = (await request) as [unknown, ServerResponse];
    write(
      life.root,
      `${id}.md`,
      `id: ${id}\nurl: ${right.url}\ncreated_at: 2026-01-01T00:00:00.000Z`,
    );
    await reread(life);

    response.writeHead(410).end();

    await right.atLeast(1);
    assert.equal(registrationsOf(life.store, undefined)[0]?.matter.disabled, undefined);
  });

  it('that is removed ends at once, and has its old secret when it comes back', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    const id = await life.register(receiver.url);
    const path = join(life.root, 'webhooks', `${id}.md`);
    const text = readFileSync(path, 'utf8');
    rmSync(path);
    await until(async () => {
      await reread(life);
      return registrationsOf(life.store, undefined).length === 0;
    });
    await reread(life);
    await life.happen(['case_updated']);
    await until(async () => (await pending(life)) === 0);
    assert.deepEqual(receiver.received, []);
    assert.deepEqual(readdirSync(life.store.layout.secrets), []);

    writeFileSync(path, text);
    await reread(life);
    await life.happen(['proof_created']);

    const [{ body, headers }] = (await receiver.atLeast(1)) as [Received];
    const hmac = createHmac('sha256', SECRET).update(body).digest('hex');
    assert.equal(headers['x-service-signature'], `sha256=${hmac}`);
  });

  it('that copies the id of another gets nothing and is told, until the other is gone', async (t) => {
    const [life, first, second] = [await live(t), await openReceiver(t), await openReceiver(t)];
    const id = await life.register(first.url);
    const caseId = await newCase(life.store);
    const dir = join(life.root, itemOf(life.store, caseId)?.dir ?? '', 'webhooks');
    mkdirSync(dir);
    writeFileSync(
      join(dir, 'copy.md'),
      `---\nid: ${id}\nurl: ${second.url}\ncreated_at: 2026-01-01T00:00:00.000Z\n---\n`,
    );
    await reconcile(life.store, caseId);
    await updateCase(life.store, caseId, () => ({ title: 'One' }));
    await first.atLeast(1);
    assert.equal(second.received.length, 0);
    assert.equal(life.logged.filter(({ message }) => /same id/.test(message)).length, 1);

    rmSync(join(life.root, 'webhooks', `${id}.md`));
    await until(async () => {
      await reread(life);
      return registrationsOf(life.store, undefined).length === 0;
    });
    await updateCase(life.store, caseId, () => ({ title: 'Two' }));

    await second.atLeast(1);
    assert.equal(first.received.length, 1);
  });

  it('whose file is renamed goes on', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    const id = await life.register(receiver.url);
    const text = readFileSync(join(life.root, 'webhooks', `${id}.md`), 'utf8');
    rmSync(join(life.root, 'webhooks', `${id}.md`));
    write(life.root, 'renamed.md', text.split('---\n')[1]?.trimEnd() ?? '');
    await reread(life);

    await life.happen(['case_updated']);

    await receiver.atLeast(1);
    assert.deepEqual(life.logged, []);
  });

  it('that is enabled again by hand gets what comes then', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    const id = await life.register(receiver.url);
    const [registration = assert.fail()] = registrationsOf(life.store, undefined);
    await disableRegistration(life.store, registration);
    life.dispatcher.changed();
    await life.happen(['case_updated']);
    await until(async () => (await pending(life)) === 0);

    const path = join(life.root, 'webhooks', `${id}.md`);
    writeFileSync(path, readFileSync(path, 'utf8').replace('disabled: true\n', ''));
    await reread(life);
    await life.happen(['proof_created']);

    assert.deepEqual(typesOf(await receiver.atLeast(1)), ['proof_created']);
  });
});

describe('a Work item that is deleted', () => {
  it('takes its registrations, secrets, cursors and logs with it', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    const caseId = await newCase(life.store);
    const id = await life.register(receiver.url, {}, caseId);
    await updateCase(life.store, caseId, () => ({ title: 'One' }));
    await receiver.atLeast(1);
    await until(() => readDeliveries(life.store.layout, id).length === 1);

    await deleteCase(life.store, caseId);

    const { layout, journal } = life.store;
    await until(() => !journal.cursors.has(id));
    assert.deepEqual(readdirSync(layout.secrets), []);
    assert.deepEqual(readdirSync(layout.deliveries), []);
  });
});

describe('redeliver', () => {
  it('sends what was delivered once more, with the same id and body, also after the journal let it go', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    const id = await life.register(receiver.url);
    await life.happen(['case_updated']);
    await receiver.atLeast(1);
    await until(async () => (await pending(life)) === 0);

    const known = await life.dispatcher.redeliver(id, String(idsOf(receiver.received)[0]));

    const [first, second] = receiver.received;
    assert.equal(known, true);
    assert.equal(second?.body, first?.body);
    assert.equal(idsOf(receiver.received)[1], idsOf(receiver.received)[0]);
  });

  it('knows nothing of other ids', async (t) => {
    const life = await live(t);
    const id = await life.register('http://127.0.0.1:9/');

    assert.equal(await life.dispatcher.redeliver(id, randomUUID()), false);
    assert.equal(await life.dispatcher.redeliver(randomUUID(), randomUUID()), false);
  });
});

describe('secrets', () => {
  it('are in no file of the workspace that git would add', async (t) => {
    const [life, receiver] = [await live(t), await openReceiver(t)];
    const caseId = await newCase(life.store);
    await life.register(receiver.url);
    await life.register(receiver.url, {}, caseId);

    await updateCase(life.store, caseId, () => ({ title: 'One' }));
    await receiver.atLeast(2);

    const files = filesOf(life.root);
    assert.ok(files.size >= 3);
    for (const [name, text] of files) assert.ok(!text.includes(SECRET), name);
  });
});
