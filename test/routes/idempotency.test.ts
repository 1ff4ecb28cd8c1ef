import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TObject, TSchema } from 'typebox';
import { isCreating } from '../../lib/http/idempotency.ts';
import { sections } from '../../routes/index.ts';
import { newId, withSeededIds } from '../../store/base/new-id.ts';
import type { Case } from '../../store/records/case.ts';
import type { ChecklistItem, Proof } from '../../store/records/proof.ts';
import type { Session } from '../../store/records/session.ts';
import type { NewWebhook } from '../../store/records/webhook.ts';
import { type Running, startForTest } from '../helpers/service.ts';
import { withCase as withSession } from '../helpers/sessions.ts';
import { forgetAnswer } from '../helpers/unanswered.ts';
import { assertProblem, sha256, told, withCase } from '../helpers/work-item.ts';

const BODY = { title: 'Once', type: 'bug' };

const withKey = (key: string, more: Record<string, string> = {}) => ({
  'content-type': 'application/json',
  'idempotency-key': key,
  ...more,
});

const answersOf = ({ workspace }: Running): string => join(workspace, '.dossier/answers');

const killed = ({ workspace }: Running, key: string): void => forgetAnswer(workspace, key);

interface Made {
  list: string;
  body?: object;
  query?: string;
  /** Default: 201. */
  status?: number;
  /** It is made in the Work item's worktree. */
  worktree?: boolean;
}

/** What makes what another call would make again: the path of the list that then has one more. */
const MADE: Record<string, Made> = {
  '/cases': { list: '/cases', body: BODY },
  '/cases/{id}/sessions': { list: '/cases/{id}/sessions', body: { type: 'implementing' } },
  '/api/sessions/queue': { list: '/cases/{id}/sessions', body: { case_id: '{id}' } },
  '/api/global-memory/snapshot': { list: '/api/global-memory/snapshots' },
  '/cases/{id}/proof': { list: '/cases/{id}/proof', body: { type: 'log', content: 'ok' } },
  '/cases/{id}/proof/files': { list: '/cases/{id}/proof', query: '?type=log', body: { a: 1 } },
  '/cases/{id}/proof/run': {
    ...{ list: '/cases/{id}/proof', status: 202, worktree: true },
    body: { command: 'true' },
  },
  '/cases/{id}/proof/checklist': {
    list: '/cases/{id}/proof/checklist',
    body: { type: 'log', description: 'Log', required: true },
  },
  '/webhooks': { list: '/webhooks', body: { url: 'http://127.0.0.1:9/x' } },
  '/cases/{id}/webhooks': { list: '/cases/{id}/webhooks', body: { url: 'http://127.0.0.1:9/x' } },
};

/** Tested where what they need is made. */
const MADE_ELSEWHERE = [
  '/api/codehost/import/jobs',
  '/api/cases/{id}/pr/address-feedback',
  '/api/cases/{id}/pr-body/suggest-update',
  '/api/cases/{id}/conflicts/resolve-with-agent',
  '/cases/{id}/sessions/{sid}/messages',
];

/** There can be but one: a second is refused, or finds the first, whatever key it has. */
const ONE_ALONE = [
  '/api/adopt',
  '/api/worktrees/{case_id}/lock',
  '/api/worktrees',
  '/api/worktrees/{case_id}/attach',
  '/api/worktrees/{case_id}/recoveries/{recovery_id}/restore',
  '/api/codehost/issues/import-case',
  '/api/cases/{id}/pr/create',
  '/cases/{id}/editor/directories',
  '/cases/{id}/editor/files',
  '/projects/{id}/files',
];

describe('a POST that makes something, killed between its effect and its answer', () => {
  for (const [path, { list, body, query = '', status = 201, worktree }] of Object.entries(MADE))
    it(`${path}: is made once, and answered when it is sent again`, async (t) => {
      const { running, item } = await withSession(t);
      const of = (text: string): string => text.replaceAll('{id}', item.id);
      const send = () => {
        const sent = body === undefined ? undefined : JSON.parse(of(JSON.stringify(body)));
        return running.call<{ id: string }>('POST', `${of(path)}${query}`, sent, withKey('k'));
      };
      const count = async () => (await running.call<unknown[]>('GET', of(list))).body.length;
      if (worktree) await running.call('POST', '/api/worktrees', { case_id: item.id });
      const before = await count();
      const first = await send();
      assert.equal(first.status, status, first.text);
      killed(running, 'k');
      await running.restart();
      const again = await send();
      assert.deepEqual([again.status, again.body.id], [status, first.body.id], again.text);
      assert.equal(await count(), before + 1);
    });

  it('is every one of them, or one of which there can be but one', () => {
    const creating = sections.flatMap(({ routes }) => routes).filter(isCreating);
    assert.deepEqual(
      creating.map(({ path }) => path).toSorted(),
      [...Object.keys(MADE), ...MADE_ELSEWHERE, ...ONE_ALONE].toSorted(),
    );
  });
});

describe('a POST with an Idempotency-Key', () => {
  it('is made once, and its first answer given again, over restarts', async (t) => {
    const running = await startForTest(t);
    const send = () => running.call<Case>('POST', '/cases', BODY, withKey('k-1'));
    const first = await send();
    assert.equal(first.status, 201, first.text);
    assert.equal(first.headers['idempotent-replayed'], undefined);
    await running.call('PUT', `/cases/${first.body.id}`, { title: 'Changed since' });
    for (const restart of [false, true]) {
      if (restart) await running.restart();
      const again = await send();
      assert.deepEqual([again.status, again.text], [201, first.text]);
      assert.equal(again.headers['idempotent-replayed'], 'true');
      for (const name of ['location', 'etag', 'content-type'])
        assert.equal(again.headers[name], first.headers[name], name);
    }
    assert.equal((await running.call<Case[]>('GET', '/cases')).body.length, 1);
    const other = await running.call<Case>('POST', '/cases', BODY, withKey('k-2'));
    assert.notEqual(other.body.id, first.body.id);
  });

  it('keeps the key out of the names of its files, which are the operator\u2019s alone', async (t) => {
    const running = await startForTest(t);
    await running.call('POST', '/cases', BODY, withKey('../../secret/of/mine'));
    const dir = answersOf(running);
    assert.deepEqual(readdirSync(dir), [`${sha256('../../secret/of/mine')}.json`]);
    assert.equal(statSync(dir).mode & 0o777, 0o700);
    assert.equal(statSync(join(dir, readdirSync(dir)[0] ?? '')).mode & 0o777, 0o600);
  });

  it('keeps no secret: one that was answered is read anew where it is kept', async (t) => {
    const { running, at } = await withCase(t);
    for (const path of ['/webhooks', `${at}/webhooks`]) {
      const body = { url: 'http://127.0.0.1:9/x' };
      const send = () => running.call<NewWebhook>('POST', path, body, withKey(path));
      const kept = () => readFileSync(join(answersOf(running), `${sha256(path)}.json`), 'utf8');
      const first = await send();
      assert.match(first.body.secret, /^whsec_/);
      assert.ok(!kept().includes(first.body.secret) && !kept().includes('whsec_'), kept());
      const { id } = first.body;
      const place = join(running.workspace, '.dossier/secrets', id);
      const again = await send();
      assert.deepEqual([again.status, again.text], [201, first.text]);
      assert.equal(again.headers['idempotent-replayed'], 'true');
      assert.equal(again.headers.etag, first.headers.etag);
      writeFileSync(place, 'of my own\n');
      assert.equal((await send()).body.secret, 'of my own');
      await running.call('DELETE', `${path}/${id}`);
      assert.equal(existsSync(place), false);
      assert.equal((await send()).body.secret, 'of my own', 'it can still be brought back');
      rmSync(join(running.workspace, '.dossier/undo'), { recursive: true });
      mkdirSync(join(running.workspace, '.dossier/undo'));
      assertProblem(await send(), 404, 'not_found');
      assert.deepEqual((await running.call('GET', path)).body, [], 'it was not made again');
      assert.equal(existsSync(place), false);
    }
  });

  it('keeps no secret of any other call: each that answers one says which it is', () => {
    const answers = (response: TSchema | undefined): string[] =>
      Object.keys((response as TObject | undefined)?.properties ?? {});
    const creating = sections.flatMap(({ routes }) => routes).filter(isCreating);
    const secrets = creating.filter(({ response }) =>
      answers(response).some((name) => /secret|token|password/i.test(name)),
    );
    assert.deepEqual(
      secrets.map(({ path, secret }) => [path, secret?.member]),
      [
        // Its token follows from the call, so that a call that is made again finds its lock, and ends with the lock.
        ['/api/worktrees/{case_id}/lock', undefined],
        ['/webhooks', 'secret'],
        ['/cases/{id}/webhooks', 'secret'],
      ],
    );
  });

  it('is 422 with another body, at another place, or with another query', async (t) => {
    const { call } = await startForTest(t);
    const { body } = await call<Case>('POST', '/cases', BODY, withKey('k'));
    for (const [path, said] of [
      ['/cases', { ...BODY, title: 'Other' }],
      ['/webhooks', { url: 'http://127.0.0.1:9/x' }],
      [`/cases/${body.id}/webhooks`, { url: 'http://127.0.0.1:9/x' }],
    ] as const)
      assertProblem(await call('POST', path, said, withKey('k')), 422, 'idempotency_mismatch');
    assert.equal((await call<Case[]>('GET', '/cases')).body.length, 1);
    assert.deepEqual((await call('GET', '/webhooks')).body, []);
  });

  it('is 409 for the second of two at once, and made once', async (t) => {
    const { call } = await startForTest(t);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => call('POST', '/cases', BODY, withKey('k'))),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    assert.equal(answers.length - refused.length, 1);
    for (const answer of refused) assertProblem(answer, 409, 'idempotency_in_use');
    assert.equal((await call<Case[]>('GET', '/cases')).body.length, 1);
    assert.equal((await call('POST', '/cases', BODY, withKey('k'))).status, 201);
  });

  it('that was refused is not kept: mended, it is made', async (t) => {
    const running = await startForTest(t);
    const { call } = running;
    for (const body of [{ type: 'bug' }, { ...BODY, title: ' ' }, { ...BODY, project: 'nobody' }])
      assertProblem(await call('POST', '/cases', body, withKey('k')), 400, 'bad_request');
    assert.deepEqual(readdirSync(answersOf(running)), []);
    assert.equal((await call('POST', '/cases', BODY, withKey('k'))).status, 201);
    for (const key of ['', 'x'.repeat(256), 'k\u00e9y', ' '])
      assertProblem(
        await call('POST', '/cases', BODY, withKey(key)),
        400,
        'bad_request',
        'header/Idempotency-Key',
      );
  });

  it('means nothing where nothing is made', async (t) => {
    const { running, call, at } = await withCase(t);
    for (const title of ['a', 'b'])
      assert.equal((await call('PUT', at, { title }, withKey('k'))).status, 200);
    assert.equal((await call<Case>('GET', at)).body.title, 'b');
    assert.deepEqual(readdirSync(answersOf(running)), []);
  });

  it('is made again, as the same, when the daemon died before it had answered', async (t) => {
    const { running, call, at, item } = await withCase(t);
    const calls: [string, object][] = [
      ['/cases', BODY],
      [`${at}/proof`, { type: 'log', content: 'ok' }],
      [`${at}/proof/checklist`, { type: 'log', description: 'Log', required: true }],
      ['/webhooks', { url: 'http://127.0.0.1:9/x' }],
    ];
    const firsts = new Map<string, string>();
    for (const [path, body] of calls) {
      const { body: made } = await call<{ id: string }>('POST', path, body, withKey(path));
      firsts.set(path, made.id);
      killed(running, path);
    }
    await running.restart();
    running.events.length = 0;
    for (const [path, body] of calls) {
      const again = await call<{ id: string }>('POST', path, body, withKey(path));
      assert.deepEqual([again.status, again.body.id], [201, firsts.get(path)], again.text);
    }
    assert.equal((await call<Case[]>('GET', '/cases')).body.length, 2);
    assert.equal((await call<Proof[]>('GET', `${at}/proof`)).body.length, 1);
    assert.equal((await call<ChecklistItem[]>('GET', `${at}/proof/checklist`)).body.length, 1);
    assert.equal((await call<unknown[]>('GET', '/webhooks')).body.length, 1);
    assert.deepEqual(told(running.events), []);
    killed(running, '/cases');
    rmSync(join(running.workspace, 'cases'), { recursive: true });
    await running.restart();
    const made = await call<Case>('POST', '/cases', BODY, withKey('/cases'));
    assert.deepEqual(
      [made.status, made.body.id],
      [201, firsts.get('/cases')],
      'it was not made yet',
    );
    assert.notEqual(made.body.id, item.id);
  });

  it('answers what there is one alone of as the first would have, when the daemon died on the way', async (t) => {
    const work = await withSession(t);
    const { running, item } = work;
    const files = `/cases/${item.id}/editor`;
    const calls: [string, object][] = [
      [`/api/worktrees/${item.id}/lock`, { name: 'me' }],
      ['/api/worktrees', { case_id: item.id }],
      [`${files}/directories`, { path: 'deep/er' }],
      ['/projects/default/files', { path: 'new.txt', content: 'hello' }],
      [`${files}/files`, { path: 'deep/new.txt', content: 'hello' }],
    ];
    for (const [path, body] of calls) {
      const send = (key: string) => running.call('POST', path, body, withKey(key));
      const first = await send(path);
      assert.equal(first.status, 201, first.text);
      killed(running, path);
      await running.restart();
      const again = await send(path);
      assert.deepEqual([again.status, again.body], [201, first.body], again.text);
      assert.equal(again.headers.etag, first.headers.etag);
      assert.equal((await send('another')).status, 409);
    }
    const last = calls.at(-1)?.[0] ?? '';
    killed(running, last);
    writeFileSync(
      join(
        (await running.call('GET', `/api/worktrees/${item.id}/status`)).body.path as string,
        'deep/new.txt',
      ),
      'of somebody else',
    );
    const other = await running.call('POST', last, calls.at(-1)?.[1], withKey(last));
    assertProblem(other, 409, 'already_exists');
  });

  it('keeps no answer of a call that only reads', async (t) => {
    const { running } = await withSession(t);
    const { root } = running.repository;
    const read = () =>
      running.call('POST', '/projects/default/files', { path: 'read.txt' }, withKey('read'));
    writeFileSync(join(root, 'read.txt'), 'one');
    assert.equal((await read()).body.content, 'one');
    writeFileSync(join(root, 'read.txt'), 'two');
    assert.equal((await read()).body.content, 'two');
  });

  it('starts one session, also when the daemon died on the way', async (t) => {
    const work = await withSession(t);
    const send = () =>
      work.running.call<Session>(
        'POST',
        `${work.at}/sessions`,
        { type: 'implementing' },
        withKey('s'),
      );
    const { body } = await send();
    await work.until(body.id, 'plan_ready');
    assert.equal((await send()).body.id, body.id);
    killed(work.running, 's');
    await work.running.restart();
    assert.equal((await send()).body.id, body.id);
    const all = await work.running.call<Session[]>('GET', `${work.at}/sessions`);
    assert.equal(all.body.length, 1);
  });

  it('is forgotten after 24 hours', async (t) => {
    const running = await startForTest(t);
    const { body } = await running.call<Case>('POST', '/cases', BODY, withKey('k'));
    const path = join(answersOf(running), `${sha256('k')}.json`);
    const kept = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...kept, at: new Date(Date.now() - 86_400_001) }));
    const again = await running.call<Case>('POST', '/cases', BODY, withKey('k'));
    assert.notEqual(again.body.id, body.id);
    assert.equal(again.headers['idempotent-replayed'], undefined);
  });

  it('is taken by every POST that makes or starts something, and the document says so', async (t) => {
    const { call } = await startForTest(t);
    const { body } = await call<{ paths: Record<string, Record<string, object>> }>(
      'GET',
      '/openapi.json',
    );
    const routes = sections.flatMap((section) => section.routes);
    const creating = routes.filter(isCreating);
    assert.ok(creating.length > 15);
    for (const route of routes) {
      const text = JSON.stringify(body.paths[route.path]?.[route.method.toLowerCase()]);
      const isSaid = text.includes('parameters/IdempotencyKey');
      assert.equal(isSaid, creating.includes(route), `${route.method} ${route.path}`);
      assert.equal(text.includes('idempotency_mismatch'), isSaid);
    }
  });
});

describe('newId', () => {
  it('is another each time, and the same again in a call that is made again', async () => {
    const two = async () => [newId(), newId()];
    const [first, again, other] = await Promise.all(
      ['a', 'a', 'b'].map((seed) => withSeededIds({ seed, again: false }, two)),
    );
    assert.deepEqual(first, again);
    assert.equal(new Set([...(first ?? []), ...(other ?? []), ...(await two())]).size, 6);
  });
});
