import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createServer } from '../../lib/daemon/server.ts';
import type { Service } from '../../lib/service.ts';
import { webhookRoutes } from '../../routes/webhooks.ts';
import { insertCase, updateCase } from '../../store/cases/cases.ts';
import { itemOf } from '../../store/reconcile/items.ts';
import type { Delivery } from '../../store/records/delivery.ts';
import type { Webhook } from '../../store/records/webhook.ts';
import { until } from '../helpers/eventually.ts';
import { openReceiver } from '../helpers/receiver.ts';
import { filesOf } from '../helpers/workspace.ts';
import { type Life, live } from '../lib/events/webhooks/life.ts';

const OWN = 'http://127.0.0.1:4321';

/** Whatever the server says: each test knows which of it is there. */
interface Said extends Webhook, Omit<Delivery, 'id' | 'body'> {
  secret: string;
  code: string;
  errors: { path: string }[];
  body: object;
}

interface Answered {
  status: number;
  headers: Record<string, unknown>;
  body: Said & [Said, Said, Said];
}

type Call = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answered>;

/** The endpoints on a real store and dispatcher, with one Work item. */
const serve = async (
  t: TestContext,
  schedule?: readonly number[],
): Promise<Life & { call: Call; caseId: string }> => {
  const life = await live(t, schedule === undefined ? {} : { schedule });
  const { store, dispatcher } = life;
  const service = {
    ...{ store, dispatcher, clock: store.clock, address: { url: OWN } },
    log: {
      error: (details: object, message: string) =>
        assert.fail(`${message}: ${JSON.stringify(details)}`),
    },
    requiresKey: () => false,
    callers: { callerOf: async () => 'operator' },
  } as unknown as Service;
  const server = createServer({
    sections: [{ title: 'Webhooks', description: 'One', routes: webhookRoutes }],
    service,
    host: '127.0.0.1',
    port: 4321,
  });
  const call: Call = async (method, path, body, headers = {}) => {
    const answer = await server.inject({
      method,
      url: path,
      headers: { host: 'localhost:4321', 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    });
    const text = answer.payload;
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  const created_at = store.clock().toISOString();
  const matter = {
    id: randomUUID(),
    title: 'One',
    type: 'bug',
    state: 'OPEN' as const,
    created_at,
  };
  await insertCase(store, { matter, description: '' });
  return Object.assign(life, { call, caseId: matter.id });
};

const URL = 'http://127.0.0.1:9/hook';
const SCOPES = ['/webhooks', '/cases/{id}/webhooks'] as const;
const pathOf = (scope: string, caseId: string): string => scope.replace('{id}', caseId);
const dirOf = ({ root, store, caseId }: Life & { caseId: string }, scope: string): string =>
  scope === '/webhooks'
    ? join(root, 'webhooks')
    : join(root, itemOf(store, caseId)?.dir ?? '', 'webhooks');

describe('POST /webhooks', () => {
  it('keeps a registration as a file and tells its secret once', async (t) => {
    const life = await serve(t);
    const asked = { url: URL, events: ['case_updated', 'proof_created'], secret: 's3cret' };

    const { status, headers, body } = await life.call('POST', '/webhooks', asked);

    assert.equal(status, 201);
    assert.equal(headers.location, `/webhooks/${body.id}`);
    assert.deepEqual(body, { ...asked, id: body.id, created_at: body.created_at });
    const file = readFileSync(join(life.root, 'webhooks', `${body.id}.md`), 'utf8');
    assert.match(file, /^---\nid: /);
    assert.match(file, /^ {2}- proof_created$/m);
    const shown = await life.call('GET', `/webhooks/${body.id}`);
    const { secret, ...rest } = body;
    assert.deepEqual(shown.body, rest);
    assert.equal(shown.headers.etag, headers.etag);
    for (const [name, text] of filesOf(life.root)) assert.ok(!text.includes(secret), name);
  });

  it('takes all events and makes a secret when none are given', async (t) => {
    const { call } = await serve(t);

    const { body } = await call('POST', '/webhooks', { url: URL });

    assert.deepEqual(body.events, ['*']);
    assert.match(body.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  it('refuses a secret that only looks like an encoded key, and takes any other', async (t) => {
    const { call } = await serve(t);
    for (const secret of ['whsec_', 'whsec_abc', 'whsec_not base64!', 'whsec_a-_b']) {
      const { status, body } = await call('POST', '/webhooks', { url: URL, secret });
      assert.deepEqual([status, body.code], [422, 'webhook_secret_malformed'], secret);
    }
    for (const secret of ['my own words', `whsec_${Buffer.alloc(24).toString('base64')}`])
      assert.equal((await call('POST', '/webhooks', { url: URL, secret })).status, 201, secret);
  });

  it('sends from the moment it answers', async (t) => {
    const [life, receiver] = [await serve(t), await openReceiver(t)];
    await life.call('POST', '/webhooks', { url: receiver.url });

    await updateCase(life.store, life.caseId, () => ({ title: 'Two' }));

    await receiver.atLeast(1);
  });

  const refused: [string, unknown, string][] = [
    ['no url', {}, '/url'],
    ['another scheme', { url: 'ftp://127.0.0.1/' }, '/url'],
    ['no URL at all', { url: 'here' }, '/url'],
    ['a port that cannot be', { url: 'http://127.0.0.1:99999/' }, '/url'],
    ['a password in the URL', { url: 'http://me:word@127.0.0.1/' }, '/url'],
    ['an unknown event', { url: URL, events: ['case_exploded'] }, '/events/0'],
    ['the daemon itself', { url: `${OWN}/cases` }, '/url'],
    ['the daemon by name', { url: 'http://LOCALHOST:4321' }, '/url'],
    ['the daemon by another address', { url: 'https://0:4321/x' }, '/url'],
    ['no events', { url: URL, events: [] }, '/events'],
    ['an empty secret', { url: URL, secret: '' }, '/secret'],
    ['a secret of two lines', { url: URL, secret: 'a\nb' }, '/secret'],
    ['an unknown field', { url: URL, colour: 'red' }, '/colour'],
  ];
  for (const [what, asked, path] of refused) {
    it(`refuses ${what} and writes nothing`, async (t) => {
      const life = await serve(t);

      const { status, body } = await life.call('POST', '/webhooks', asked);

      assert.equal(status, 400);
      assert.equal(body.code, 'bad_request');
      assert.deepEqual(
        body.errors.map(({ path: place }) => place),
        [path],
      );
      assert.equal(existsSync(join(life.root, 'webhooks')), false);
    });
  }
});

describe('POST /cases/{id}/webhooks', () => {
  it('keeps the registration with its Work item, and tells the secret it made', async (t) => {
    const life = await serve(t);
    const path = `/cases/${life.caseId}/webhooks`;

    const { status, headers, body } = await life.call('POST', path, { url: URL });

    assert.equal(status, 201);
    assert.equal(headers.location, `${path}/${body.id}`);
    assert.deepEqual(body.events, ['*']);
    assert.match(body.secret, /^whsec_/);
    assert.ok(existsSync(join(dirOf(life, path), `${body.id}.md`)));
    assert.deepEqual((await life.call('GET', '/webhooks')).body, []);
  });

  it('takes a url only', async (t) => {
    const { call, caseId } = await serve(t);

    for (const more of [{ events: ['*'] }, { secret: 'mine' }]) {
      const { status } = await call('POST', `/cases/${caseId}/webhooks`, { url: URL, ...more });
      assert.equal(status, 400);
    }
  });
});

for (const scope of SCOPES) {
  describe(`GET ${scope}`, () => {
    it('lists the registrations without their secrets, oldest first, page by page', async (t) => {
      const { call, caseId } = await serve(t);
      const path = pathOf(scope, caseId);
      const ids: string[] = [];
      for (let count = 0; count < 3; count += 1)
        ids.push((await call('POST', path, { url: `${URL}/${count}` })).body.id);

      const all = await call('GET', path);
      const first = await call('GET', `${path}?limit=2`);
      const [, next = ''] = /^<(.*)>; rel="next"$/.exec(String(first.headers.link)) ?? [];
      const second = await call('GET', next);

      const idsIn = ({ body }: Answered) => body.map(({ id }) => id);
      assert.deepEqual(idsIn(all).toSorted(), ids.toSorted());
      assert.deepEqual([...idsIn(first), ...idsIn(second)], idsIn(all));
      assert.equal(second.headers.link, undefined);
      assert.deepEqual(Object.keys(all.body[0]), ['id', 'url', 'events', 'created_at']);
    });

    it('shows what was made or removed by hand this moment', async (t) => {
      const life = await serve(t);
      const path = pathOf(scope, life.caseId);
      const { body } = await life.call('POST', path, { url: URL });
      const dir = dirOf(life, scope);
      rmSync(join(dir, `${body.id}.md`));
      writeFileSync(join(dir, 'mine.md'), `---\nurl: ${URL}/mine\n---\n`);

      const list = await life.call('GET', path);

      assert.deepEqual(
        list.body.map(({ url }) => url),
        [`${URL}/mine`],
      );
      assert.equal((await life.call('GET', `${path}/${body.id}`)).status, 404);
    });
  });

  describe(`GET ${scope}/{webhook_id}`, () => {
    it('answers 304 to who has it, and 404 for no registration', async (t) => {
      const { call, caseId } = await serve(t);
      const path = pathOf(scope, caseId);
      const { headers, body } = await call('POST', path, { url: URL });
      const known = { 'if-none-match': String(headers.etag) };

      assert.equal((await call('GET', `${path}/${body.id}`, undefined, known)).status, 304);
      for (const id of [randomUUID(), 'no-id']) {
        const { status, body: problem } = await call('GET', `${path}/${id}`);
        assert.equal(status, 404);
        assert.equal(problem.code, 'not_found');
      }
    });
  });

  describe(`DELETE ${scope}/{webhook_id}`, () => {
    it('removes the file, the secret, the log and the cursor', async (t) => {
      const life = await serve(t);
      const receiver = await openReceiver(t);
      const path = pathOf(scope, life.caseId);
      const { body } = await life.call('POST', path, { url: receiver.url });
      await updateCase(life.store, life.caseId, () => ({ title: 'Two' }));
      await receiver.atLeast(1);

      const { status } = await life.call('DELETE', `${path}/${body.id}`);

      assert.equal(status, 204);
      assert.equal(existsSync(join(dirOf(life, scope), `${body.id}.md`)), false);
      const { layout, journal } = life.store;
      assert.equal(existsSync(join(layout.secrets, body.id)), false);
      assert.equal(existsSync(join(layout.deliveries, `${body.id}.ndjson`)), false);
      await until(() => !journal.cursors.has(body.id));
      assert.deepEqual((await life.call('GET', path)).body, []);
    });

    it('lets one of two simultaneous ones through', async (t) => {
      const { call, caseId } = await serve(t);
      const path = pathOf(scope, caseId);
      const { body } = await call('POST', path, { url: URL });

      const answers = await Promise.all([
        call('DELETE', `${path}/${body.id}`),
        call('DELETE', `${path}/${body.id}`),
      ]);

      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, 404]);
    });

    it('removes nothing that was changed by hand since it was read', async (t) => {
      const life = await serve(t);
      const path = pathOf(scope, life.caseId);
      const { headers, body } = await life.call('POST', path, { url: URL });
      const file = join(dirOf(life, scope), `${body.id}.md`);
      const read = { 'if-match': String(headers.etag) };
      writeFileSync(file, readFileSync(file, 'utf8').replace('/hook', '/other'));

      const refused = await life.call('DELETE', `${path}/${body.id}`, undefined, read);
      const { headers: now } = await life.call('GET', `${path}/${body.id}`);
      const again = { 'if-match': String(now.etag) };

      assert.equal(refused.status, 412);
      assert.equal(refused.body.code, 'precondition_failed');
      assert.ok(existsSync(file));
      const removed = await life.call('DELETE', `${path}/${body.id}`, undefined, again);
      assert.equal(removed.status, 204);
    });

    it('answers 404 for no registration', async (t) => {
      const { call, caseId } = await serve(t);

      const { status } = await call('DELETE', `${pathOf(scope, caseId)}/${randomUUID()}`);

      assert.equal(status, 404);
    });
  });

  describe(`GET ${scope}/{webhook_id}/deliveries`, () => {
    it('tells what was delivered, what is retried and what waits', async (t) => {
      const life = await serve(t, [60_000]);
      const receiver = await openReceiver(t);
      receiver.script(204, 503);
      const path = pathOf(scope, life.caseId);
      const { body } = await life.call('POST', path, { url: receiver.url });
      for (const title of ['Two', 'Three', 'Four'])
        await updateCase(life.store, life.caseId, () => ({ title }));
      const list = () => life.call('GET', `${path}/${body.id}/deliveries`);
      await until(async () => (await list()).body[1]?.attempts.length === 1);

      const deliveries = (await list()).body;

      assert.deepEqual(
        deliveries.map(({ status }) => status),
        ['delivered', 'retrying', 'waiting'],
      );
      assert.equal(deliveries[0].id, receiver.received[0]?.headers['x-service-delivery']);
      assert.deepEqual(deliveries[0].body, JSON.parse(receiver.received[0]?.body ?? ''));
      assert.equal(deliveries[0].event_type, 'case_updated');
      assert.equal(deliveries[1].attempts[0]?.status, 503);
      assert.ok(Date.parse(String(deliveries[1].next_attempt_at)) > Date.now());
      const page = await life.call('GET', `${path}/${body.id}/deliveries?limit=1`);
      assert.match(String(page.headers.link), new RegExp(`after=${deliveries[0].id}`));
      const newest = await life.call('GET', `${path}/${body.id}/deliveries?order=newest`);
      assert.deepEqual(
        newest.body.map(({ status }) => status),
        ['retrying', 'delivered', 'waiting'],
      );
      const [{ id }] = newest.body;
      const query = `order=newest&limit=1&after=${id}`;
      const rest = await life.call('GET', `${path}/${body.id}/deliveries?${query}`);
      assert.deepEqual(rest.body[0].id, deliveries[0].id);
      assert.match(String(rest.headers.link), /order=newest/);
    });

    it('walks a long backlog no further than the page reaches, page by page', async (t) => {
      const life = await serve(t, [60_000]);
      const path = pathOf(scope, life.caseId);
      const { body } = await life.call('POST', path, { url: 'http://127.0.0.1:9/' });
      const types = Array.from({ length: 3000 }, () => 'case_updated' as const);
      await life.happen(types, life.caseId);
      const { journal } = life.store;
      const list = `${path}/${body.id}/deliveries`;
      const first = await life.call('GET', `${list}?limit=1`);
      let walked = 0;
      const after = journal.after.bind(journal);
      Object.assign(journal, {
        after: async function* (seq: number) {
          for await (const event of after(seq)) {
            walked += 1;
            yield event;
          }
        },
      });

      const { headers, body: page } = await life.call('GET', `${list}?limit=10`);

      assert.deepEqual([page.length, page[0].id], [10, first.body[0].id]);
      assert.ok(walked <= 12, `${walked} events were looked at`);
      assert.match(String(headers.link), new RegExp(`limit=10&after=${page.at(-1)?.id}`));
      const next = await life.call('GET', `${list}?limit=10&after=${page.at(-1)?.id}`);
      assert.equal(new Set([...page, ...next.body].map(({ id }) => id)).size, 20);
      assert.ok(walked <= 40, `${walked} events were looked at for two pages`);
      const all = await life.call('GET', list);
      assert.equal(all.body.length, 1000);
      assert.match(String(all.headers.link), new RegExp(`after=${all.body.at(-1)?.id}`));
      const lost = await life.call('GET', `${list}?after=${randomUUID()}`);
      assert.deepEqual([lost.status, lost.body.code], [400, 'bad_request']);
    });

    it('answers 404 for no registration', async (t) => {
      const { call, caseId } = await serve(t);

      const path = `${pathOf(scope, caseId)}/${randomUUID()}/deliveries`;

      assert.equal((await call('GET', path)).status, 404);
    });
  });

  describe(`POST ${scope}/{webhook_id}/deliveries/{delivery_id}/redeliver`, () => {
    it('sends what failed once more and answers what came of it', async (t) => {
      const life = await serve(t, []);
      const receiver = await openReceiver(t);
      receiver.script(500);
      const path = pathOf(scope, life.caseId);
      const { body } = await life.call('POST', path, { url: receiver.url });
      await updateCase(life.store, life.caseId, () => ({ title: 'Two' }));
      const list = `${path}/${body.id}/deliveries`;
      await until(async () => (await life.call('GET', list)).body[0]?.status === 'failed');
      const [{ id }] = (await life.call('GET', list)).body;

      const answer = await life.call('POST', `${list}/${id}/redeliver`);

      assert.equal(answer.status, 200);
      assert.equal(answer.body.status, 'delivered');
      assert.deepEqual(
        answer.body.attempts.map(({ status }) => status),
        [500, 204],
      );
      assert.equal(receiver.received[1]?.body, receiver.received[0]?.body);
    });

    it('tries what is retried now, and refuses what waits behind it', async (t) => {
      const life = await serve(t, [60_000]);
      const receiver = await openReceiver(t);
      receiver.script(500);
      const path = pathOf(scope, life.caseId);
      const { body } = await life.call('POST', path, { url: receiver.url });
      for (const title of ['Two', 'Three'])
        await updateCase(life.store, life.caseId, () => ({ title }));
      const list = `${path}/${body.id}/deliveries`;
      await until(async () => (await life.call('GET', list)).body[0]?.status === 'retrying');
      const [first, second] = (await life.call('GET', list)).body;

      const early = await life.call('POST', `${list}/${second.id}/redeliver`);
      const now = await life.call('POST', `${list}/${first.id}/redeliver`);

      assert.equal(early.status, 422);
      assert.equal(early.body.code, 'invalid_state');
      assert.equal(now.body.status, 'delivered');
      await receiver.atLeast(3);
    });

    it('refuses while the registration is disabled', async (t) => {
      const life = await serve(t);
      const receiver = await openReceiver(t);
      receiver.script(410);
      const path = pathOf(scope, life.caseId);
      const { body } = await life.call('POST', path, { url: receiver.url });
      await updateCase(life.store, life.caseId, () => ({ title: 'Two' }));
      const hook = `${path}/${body.id}`;
      await until(async () => (await life.call('GET', hook)).body.disabled === true);
      const [delivery] = (await life.call('GET', `${hook}/deliveries`)).body;

      const answer = await life.call('POST', `${hook}/deliveries/${delivery.id}/redeliver`);

      assert.equal(delivery.status, 'failed');
      assert.equal(answer.status, 422);
      assert.equal(answer.body.code, 'invalid_state');
    });

    it('answers 404 for no registration and for no delivery', async (t) => {
      const { call, caseId } = await serve(t);
      const path = pathOf(scope, caseId);
      const { body } = await call('POST', path, { url: URL });

      for (const id of [body.id, randomUUID()]) {
        const answer = await call('POST', `${path}/${id}/deliveries/${randomUUID()}/redeliver`);
        assert.equal(answer.status, 404);
      }
    });
  });
}

describe('webhooks of a Work item that is not there', () => {
  it('are 404, whatever is asked', async (t) => {
    const { call } = await serve(t);
    const path = `/cases/${randomUUID()}/webhooks`;
    const one = `${path}/${randomUUID()}`;

    const answers = [
      await call('POST', path, { url: URL }),
      await call('GET', path),
      await call('GET', one),
      await call('DELETE', one),
      await call('GET', `${one}/deliveries`),
      await call('POST', `${one}/deliveries/${randomUUID()}/redeliver`),
    ];

    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 404, 404, 404, 404, 404],
    );
  });
});
