import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { PullRequest, PullTransition } from '../../store/records/pull-request.ts';
import { setIncomingSecret } from '../../store/webhooks/secrets.ts';
import {
  deliveryOf,
  type Example,
  signatureOf,
  type WebhookDelivery,
  webhookDelivery,
} from '../codehost/webhook.ts';
import type { Answered, Running } from '../helpers/service.ts';
import { type WithPull, withPull } from '../helpers/with-pull.ts';
import { assertProblem, type WithCase, withCase } from '../helpers/work-item.ts';

const SECRET = 'sehr geheim';
const PATH = '/api/codehost/webhook';

interface Taken {
  event: string;
  duplicate: boolean;
  case_ids: string[];
  note: string;
}

type Call = Running['call'];

const send = (call: Call, { body, headers }: Pick<WebhookDelivery, 'body' | 'headers'>) =>
  call<Taken>('POST', PATH, body, headers);

const arrivals = ({ workspace }: Running): string[] => {
  const dir = join(workspace, '.dossier/arrivals');
  return readdirSync(dir).flatMap((name) =>
    readFileSync(join(dir, name), 'utf8').trim().split('\n'),
  );
};

const withSecret = async (t: TestContext): Promise<WithCase> => {
  const work = await withCase(t);
  await setIncomingSecret(work.running.service.store, SECRET);
  return work;
};

const ISSUE = { event: 'issues', action: 'edited' };

const withHooked = async (t: TestContext): Promise<WithPull & { told: Told }> => {
  const scene = await withPull(t);
  await setIncomingSecret(scene.running.service.store, SECRET);
  const { body: pull } = await scene.api<PullRequest>('GET', 'pr');
  const told: Told = (example, set = {}) => {
    const named = {
      'repository.full_name': 'Acme/App',
      'pull_request.number': scene.number,
      'pull_request.updated_at': later(pull.updated_at, 60),
      'pull_request.head.sha': pull.head_sha,
      ...set,
    };
    return send(scene.call, webhookDelivery(SECRET, { ...example, set: named }));
  };
  return { ...scene, told };
};

type Told = (example: Example, set?: Record<string, unknown>) => Promise<Answered<Taken>>;

const later = (time: string | null, seconds: number): string =>
  new Date(Date.parse(time ?? '') + seconds * 1000).toISOString();

const timeline = async ({ api }: WithPull): Promise<PullTransition[]> =>
  (await api<PullTransition[]>('GET', 'pr/state-timeline')).body as unknown as PullTransition[];

describe('POST /api/codehost/webhook: what is taken', () => {
  it('refuses all while there is no secret, and what that secret does not sign', async (t) => {
    const { call, running } = await withCase(t);
    const delivery = webhookDelivery(SECRET, ISSUE);
    assertProblem(await send(call, delivery), 422, 'codehost_no_webhook_secret');
    await setIncomingSecret(running.service.store, SECRET);
    const { 'x-hub-signature-256': signature = '', ...unsigned } = delivery.headers;
    const sha1 = createHmac('sha1', SECRET).update(delivery.body).digest('hex');
    const wrong = [
      {},
      { 'x-hub-signature': `sha1=${sha1}` },
      { 'x-hub-signature-256': '' },
      { 'x-hub-signature-256': signature.slice('sha256='.length) },
      { 'x-hub-signature-256': signature.slice(0, -2) },
      { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
      signatureOf('another', delivery.body),
      signatureOf(SECRET, `${delivery.body} `),
    ];
    for (const headers of wrong) {
      const answer = await send(call, { ...delivery, headers: { ...unsigned, ...headers } });
      assertProblem(answer, 401, 'unauthorized');
    }
    // None of them has reserved its id.
    assert.deepEqual(arrivals(running), []);
    const taken = await send(call, delivery);
    assert.deepEqual([taken.status, taken.body.duplicate], [200, false], taken.text);
  });

  it('takes both secrets while one is being changed for another', async (t) => {
    const { call, running } = await withSecret(t);
    await setIncomingSecret(running.service.store, 'the next');
    for (const secret of [SECRET, 'the next'])
      assert.equal((await send(call, webhookDelivery(secret, ISSUE))).status, 200);
    await setIncomingSecret(running.service.store, 'the third');
    assertProblem(await send(call, webhookDelivery(SECRET, ISSUE)), 401, 'unauthorized');
  });

  it('takes an event with a digit in its name', async (t) => {
    const { call } = await withSecret(t);
    const delivery = webhookDelivery(SECRET, { event: 'projects_v2_item' });
    const { status, body } = await send(call, delivery);
    assert.deepEqual([status, body.event], [200, 'projects_v2_item']);
  });

  it('answers a ping, and remembers nothing of it', async (t) => {
    const { call, running } = await withSecret(t);
    const { status, body } = await send(call, webhookDelivery(SECRET, { event: 'ping' }));
    assert.deepEqual([status, body.event, body.duplicate], [200, 'ping', false]);
    assert.deepEqual(arrivals(running), []);
  });

  it('wants JSON, with the names of the event and the delivery', async (t) => {
    const { call, running } = await withSecret(t);
    const { body, headers } = webhookDelivery(SECRET, ISSUE);
    for (const type of [
      'application/x-www-form-urlencoded',
      'text/plain',
      'application/octet-stream',
    ])
      assertProblem(
        await send(call, { body, headers: { ...headers, 'content-type': type } }),
        ...([415, 'unsupported_media_type'] as const),
      );
    for (const name of ['x-github-event', 'x-github-delivery']) {
      const { [name]: _left, ...rest } = headers;
      assertProblem(await send(call, { body, headers: rest }), 400, 'bad_request');
      const odd = { ...headers, [name]: 'what is\tthis' };
      assertProblem(await send(call, { body, headers: odd }), 400, 'bad_request');
    }
    assert.deepEqual(arrivals(running), []);
  });

  it('refuses what is signed and no payload, whatever it is, and reserves nothing for it', async (t) => {
    const { call, running } = await withSecret(t);
    const { headers } = webhookDelivery(SECRET, ISSUE);
    const bodies = ['', '{', '[]', 'null', '"text"', '{"action":', '['.repeat(200_000)];
    for (const body of bodies) {
      const signed = { ...headers, ...signatureOf(SECRET, body) };
      assertProblem(await send(call, { body, headers: signed }), 400, 'bad_request');
    }
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    const digest = createHmac('sha256', SECRET).update(bytes).digest('hex');
    const answer = await call('POST', PATH, bytes, {
      ...headers,
      'x-hub-signature-256': `sha256=${digest}`,
    });
    assertProblem(answer, 400, 'bad_request');
    const deep = `{"repository":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`;
    const signed = { ...headers, ...signatureOf(SECRET, deep) };
    assert.equal((await send(call, { body: deep, headers: signed })).status, 200);
    assert.equal(arrivals(running).length, 1);
  });

  it('takes 25 MB and no more', async (t) => {
    const { call } = await withSecret(t);
    const { headers } = webhookDelivery(SECRET, ISSUE);
    const large = (bytes: number) => {
      const body = `{"filler":"${'x'.repeat(bytes - 13)}"}`;
      return send(call, { body, headers: { ...headers, ...signatureOf(SECRET, body) } });
    };
    assert.equal((await large(26_214_400)).status, 200);
    assertProblem(await large(26_214_401), 413, 'too_large');
  });

  it('takes a delivery once: by its id, by its body under another id, and after a restart', async (t) => {
    const { call, running } = await withSecret(t);
    const delivery = webhookDelivery(SECRET, ISSUE);
    const first = await send(call, delivery);
    assert.deepEqual([first.body.duplicate, first.body.case_ids], [false, []]);
    const renamed = { ...delivery.headers, 'x-github-delivery': 'captured-1' };
    const again = [delivery, { ...delivery, headers: renamed }];
    for (const one of again) assert.equal((await send(call, one)).body.duplicate, true);
    await running.restart();
    for (const one of again) assert.equal((await send(call, one)).body.duplicate, true);
    assert.equal(arrivals(running).length, 1);
  });
});

describe('POST /api/codehost/webhook: what it does', () => {
  it('adds to the timeline and marks the pull request as stale; asks nobody, moves nothing', async (t) => {
    const scene = await withHooked(t);
    const { told, api, host, id, number, call, at, events } = scene;
    const { body: before } = await api<PullRequest>('GET', 'pr');
    const closed_at = later(before.updated_at, 30);
    const answer = await told(
      { event: 'pull_request', action: 'closed' },
      { 'pull_request.closed_at': closed_at, 'sender.login': 'colleague' },
    );
    assert.deepEqual([answer.status, answer.body.case_ids], [200, [id]], answer.text);
    const [added] = await timeline(scene);
    assert.deepEqual(
      [added?.event, added?.from, added?.to, added?.source, added?.number, added?.actor],
      ['closed', 'draft', 'closed', 'webhook', number, 'colleague'],
    );
    assert.equal(added?.occurred_at, closed_at);
    const { body: pull } = await api<PullRequest>('GET', 'pr');
    assert.deepEqual([pull.stale, pull.state], [true, 'draft']);
    assert.deepEqual(host.requests, []);
    assert.equal((await call(`GET`, at)).body.state, 'OPEN');
    assert.ok(events.every(({ event_type }) => event_type !== 'case_state_changed'));
  });

  it('shows the Work item of a merged pull request as merged, in its state', async (t) => {
    const scene = await withHooked(t);
    const { told, api, call, at } = scene;
    const { body: before } = await api<PullRequest>('GET', 'pr');
    const answer = await told(
      { event: 'pull_request', action: 'closed' },
      {
        'pull_request.closed_at': later(before.updated_at, 30),
        'pull_request.merged_at': later(before.updated_at, 30),
        'pull_request.merged': true,
        'pull_request.base.ref': before.base_ref,
      },
    );
    assert.equal(answer.status, 200, answer.text);
    const { state, merged } = (await call<Case>('GET', at)).body;
    assert.deepEqual(
      [state, merged?.into, merged?.commit],
      ['OPEN', before.base_ref, before.head_sha],
    );
  });

  it('says of a merge what was merged where, not what the record knew last', async (t) => {
    const scene = await withHooked(t);
    const { told, api, call, at } = scene;
    const { body: before } = await api<PullRequest>('GET', 'pr');
    const theirs = 'b'.repeat(40);
    await told(
      { event: 'pull_request', action: 'closed' },
      {
        'pull_request.merged_at': later(before.updated_at, 30),
        'pull_request.merged': true,
        'pull_request.head.sha': theirs,
        'pull_request.base.ref': 'release',
      },
    );
    const { merged } = (await call<Case>('GET', at)).body;
    assert.deepEqual([merged?.into, merged?.commit], ['release', theirs]);
    const { body: now } = await api<PullRequest>('GET', 'pr');
    assert.deepEqual([now.base_ref, now.head_sha, now.stale], ['release', theirs, true]);
  });

  it('applies twenty repeats at once a single time', async (t) => {
    const scene = await withHooked(t);
    const delivery = webhookDelivery(SECRET, {
      ...{ event: 'pull_request', action: 'synchronize' },
      set: { 'repository.full_name': 'acme/app', 'pull_request.number': scene.number },
    });
    const payload = { ...delivery.payload };
    Object.assign(payload.pull_request as object, {
      updated_at: later(new Date().toISOString(), 60),
    });
    const fresh = deliveryOf(SECRET, 'pull_request', payload);
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(scene.call, fresh)));
    assert.deepEqual(answers.map(({ status, body }) => `${status} ${body.duplicate}`).toSorted(), [
      '200 false',
      ...Array(19).fill('200 true'),
    ]);
    assert.equal((await timeline(scene)).length, 1);
  });

  it('does the whole effect at the repeat, where the first one died before it was noted', async (t) => {
    const scene = await withHooked(t);
    const closed = { event: 'pull_request', action: 'closed' };
    await scene.told(closed);
    rmSync(scene.running.service.store.layout.arrivals, { recursive: true });
    await scene.running.restart();
    const again = await scene.told(closed);
    assert.deepEqual([again.body.duplicate, again.body.case_ids], [false, [scene.id]]);
    assert.equal((await timeline(scene)).length, 1);
  });

  it('is told once, whether by a webhook, by a sync or by both', async (t) => {
    const scene = await withHooked(t);
    await scene.host.pulls.ready(scene.number);
    const before = await scene.host.pulls.read(scene.number);
    await scene.told(
      { event: 'pull_request', action: 'ready_for_review' },
      { 'pull_request.updated_at': new Date(Date.now() + 1000).toISOString() },
    );
    assert.ok(before.number);
    await scene.api('POST', 'pr/sync-state');
    const ready = (await timeline(scene)).filter(({ event }) => event === 'ready');
    assert.deepEqual(
      ready.map(({ source }) => source),
      ['webhook'],
    );
  });

  it('ignores what is older than what is known, and says so', async (t) => {
    const scene = await withHooked(t);
    const { body: known } = await scene.api<PullRequest>('GET', 'pr');
    const answer = await scene.told(
      { event: 'pull_request', action: 'closed' },
      { 'pull_request.updated_at': later(known.updated_at, -60) },
    );
    assert.deepEqual([answer.status, answer.body.case_ids], [200, []]);
    assert.match(answer.body.note, /older/);
    assert.deepEqual(await timeline(scene), []);
    assert.equal((await scene.api<PullRequest>('GET', 'pr')).body.stale, false);
  });

  it('stays stale when a sync was under way that asked before it', async (t) => {
    const scene = await withHooked(t);
    const { host, api, told } = scene;
    const silence = host.fail('silence', { graphql: 'query PullRequest(' });
    const syncing = api<PullRequest>('POST', 'pr/sync-state');
    await silence.met;
    const { body: known } = await api<PullRequest>('GET', 'pr');
    const updated_at = later(known.updated_at, 5);
    const answer = await told(
      { event: 'pull_request_review', action: 'submitted' },
      { 'pull_request.updated_at': updated_at, 'review.submitted_at': updated_at },
    );
    assert.equal(answer.status, 200, answer.text);
    silence.release();
    const synced = await syncing;
    assert.deepEqual([synced.status, synced.body.stale], [200, true], synced.text);
    assert.equal((await timeline(scene)).filter(({ event }) => event === 'review').length, 1);
  });

  it('knows its pull request by the host’s id, where the repository is called otherwise by now', async (t) => {
    const scene = await withHooked(t);
    const { read, id, told, api } = scene;
    const node_id = /^node_id: (.*)$/m.exec(read('pr/pr.md'))?.[1];
    const named = { 'repository.full_name': 'acme/other', 'pull_request.node_id': node_id };
    const moved = await told({ event: 'pull_request', action: 'labeled' }, named);
    assert.deepEqual(moved.body.case_ids, [id], moved.text);
    assert.equal((await api<PullRequest>('GET', 'pr')).body.stale, true);
    const others = { 'repository.full_name': 'acme/other' };
    assert.deepEqual(
      (await told({ event: 'pull_request', action: 'closed' }, others)).body.case_ids,
      [],
    );
    const renamed = await told(
      { event: 'repository', action: 'renamed' },
      { 'repository.full_name': 'acme/other', 'changes.repository.name.from': 'app' },
    );
    assert.deepEqual(renamed.body.case_ids, [id]);
  });

  it('is told of checks by the commit, and of comments by the number', async (t) => {
    const { told, id, number, api } = await withHooked(t);
    const { body: pull } = await api<PullRequest>('GET', 'pr');
    for (const [example, set] of [
      [{ event: 'status' }, { sha: pull.head_sha }],
      [{ event: 'check_suite' }, { 'check_suite.head_sha': pull.head_sha }],
      [
        { event: 'issue_comment' },
        {
          'issue.number': number,
          'issue.pull_request': {},
          'issue.updated_at': later(pull.updated_at, 9),
        },
      ],
    ] as const)
      assert.deepEqual((await told(example, set)).body.case_ids, [id], example.event);
    assert.deepEqual((await told({ event: 'status' }, { sha: 'f'.repeat(40) })).body.case_ids, []);
  });

  it('marks the link to an issue as stale, but not one in conflict', async (t) => {
    const { call, running, write, read, item } = await withSecret(t);
    const link = (status: string) =>
      `---\nissue:\n  repository: acme/app\n  number: 3\n  status: ${status}\n---\n`;
    const edited = (number = 3) =>
      webhookDelivery(SECRET, {
        ...ISSUE,
        set: { 'repository.full_name': 'acme/app', 'issue.number': number, nonce: Math.random() },
      });
    write('link.md', link('linked'));
    assert.deepEqual((await send(call, edited())).body.case_ids, [item.id]);
    assert.match(
      read('link.md'),
      /status: stale[\s\S]*- \S+ stale: the host reported issues edited/,
    );
    const once = read('link.md');
    await send(call, edited());
    assert.equal(read('link.md'), once);
    assert.deepEqual((await send(call, edited(4))).body.case_ids, []);
    write('link.md', link('conflict'));
    await send(call, edited());
    assert.match(read('link.md'), /status: conflict/);
    assert.ok(running.service);
  });

  it('is refused, and may come again, while the record cannot be read', async (t) => {
    const scene = await withHooked(t);
    const text = scene.read('pr/pr.md');
    const closed = { event: 'pull_request', action: 'closed' };
    const delivery = webhookDelivery(SECRET, {
      ...closed,
      set: {
        'repository.full_name': 'acme/app',
        'pull_request.number': scene.number,
        'pull_request.updated_at': later(new Date().toISOString(), 60),
      },
    });
    await scene.told({ event: 'push' });
    scene.write('pr/pr.md', text.replace(/^number: .*$/m, 'number: what'));
    assertProblem(await send(scene.call, delivery), 409, 'unreadable_record');
    scene.write('pr/pr.md', text);
    const again = await send(scene.call, delivery);
    assert.deepEqual([again.body.duplicate, again.body.case_ids], [false, [scene.id]], again.text);
  });
});
