import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { AttentionItem } from '../../../store/records/attention.ts';
import type { Session } from '../../../store/records/session.ts';
import { eventually } from '../../helpers/eventually.ts';
import { startForTest } from '../../helpers/service.ts';

/** The console as a browser without scripts has it. */
const browse = async (t: TestContext) => {
  const running = await startForTest(t);
  const { call } = running;
  const first = await call('GET', '/dashboard');
  const cookie = String(first.headers['set-cookie']).split(';')[0] ?? '';
  const shown = async (path = '/dashboard') =>
    (await call('GET', path, undefined, { cookie })).text;
  const form_key = /"form_key":"([^"]+)"/.exec(await shown())?.[1] ?? '';
  const send = (fields: Record<string, string>, headers = {}) =>
    call('POST', '/dashboard/do', new URLSearchParams({ form_key, ...fields }).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
      ...{ cookie, ...headers },
    });
  return { running, call, shown, send, form_key, cookie };
};

const withPlan = async (t: TestContext) => {
  const browsing = await browse(t);
  const { call } = browsing;
  const description = '```sh\necho done > done.txt\n```\n';
  const item = await call<{ id: string }>('POST', '/cases', {
    title: 'One',
    type: 'bug',
    description,
  });
  const at = `/cases/${item.body.id}/sessions`;
  const { body } = await call<Session>('POST', at, { type: 'implementing' });
  const session = () => call<Session>('GET', `${at}/${body.id}`);
  await eventually(async () => assert.equal((await session()).body.status, 'plan_ready'));
  const { plan_sha256 } = (await session()).body;
  return { ...browsing, path: `${at}/${body.id}`, session, sha: String(plan_sha256) };
};

describe('POST /dashboard/do', () => {
  it('makes the call that the form stands for, and leads back', async (t) => {
    const { send, path, session, sha } = await withPlan(t);
    const _body = JSON.stringify({ plan_sha256: sha });
    const done = await send({ _call: `POST ${path}/approve`, _body, _back: '/dashboard?x=1' });
    assert.deepEqual([done.status, done.headers.location], [303, '/dashboard?x=1']);
    assert.equal((await session()).body.approved_by, 'operator');
  });

  it('leads to what was made', async (t) => {
    const { send } = await browse(t);
    const fields = { title: 'Two', type: 'bug', 'description?': '', 'project?': '' };
    const _then = '/dashboard/cases/{id}';
    const done = await send({ _call: 'POST /cases', _back: '/dashboard', _then, ...fields });
    assert.match(String(done.headers.location), /^\/dashboard\/cases\/[0-9a-f-]{36}$/);
  });

  it('makes the call that follows, and shows what was made where only that is refused', async (t) => {
    const { send, call } = await browse(t);
    const fields = {
      ...{ _call: 'POST /cases', _then: '/dashboard/cases/{id}', title: 'Two', type: 'bug' },
      ...{ _next: 'POST /cases/{id}/sessions', '_next.type': 'implementing' },
    };
    const done = await send({ ...fields, '_next.provider?': 'manual' });
    const [, id] =
      /^\/dashboard\/cases\/([0-9a-f-]{36})$/.exec(String(done.headers.location)) ?? [];
    const { body } = await call<Session[]>('GET', `/cases/${id}/sessions`);
    assert.deepEqual(
      body.map(({ provider }) => provider),
      ['manual'],
    );
    const half = await send({ ...fields, title: 'Three', '_next.provider?': 'nobody' });
    assert.equal(half.status, 400);
    assert.match(half.text, /role="alert"[\s\S]*<h1>Three/);
    assert.equal((await call<unknown[]>('GET', '/cases')).body.length, 2);
    const none = await send({ ...fields, _next: 'GET /cases' });
    assert.equal(none.status, 400);
    assert.equal((await call<unknown[]>('GET', '/cases')).body.length, 2);
  });

  it('makes once what one showing of a page sends twice', async (t) => {
    const { send, call } = await browse(t);
    const fields = { _call: 'POST /cases', _back: '/dashboard', _showing: 'one', type: 'bug' };
    await Promise.all([send({ ...fields, title: 'Two' }), send({ ...fields, title: 'Two' })]);
    const { body } = await call<unknown[]>('GET', '/cases');
    assert.equal(body.length, 1);
    await send({ ...fields, title: 'Two', _showing: 'another' });
    assert.equal((await call<unknown[]>('GET', '/cases')).body.length, 2);
  });

  it('shows the page again with why it was refused', async (t) => {
    const { send, path, session } = await withPlan(t);
    const _body = JSON.stringify({ plan_sha256: '0'.repeat(64) });
    const refused = await send({ _call: `POST ${path}/approve`, _body, _back: '/dashboard' });
    assert.equal(refused.status, 409);
    assert.match(refused.text, /role="alert"[^>]*>The plan changed since you read it\.[^<]*</);
    assert.match(refused.text, /<h1>Inbox/);
    assert.equal((await session()).body.status, 'plan_ready');
  });

  it('sends Markdown, and the ETag that was read', async (t) => {
    const { send, path, call } = await withPlan(t);
    const { headers } = await call('GET', `${path}/plan`);
    const edit = { _call: `PUT ${path}/plan`, _back: '/dashboard', _markdown: '# Mine\r\n' };
    const stale = await send({ ...edit, _if_match: 'old' });
    assert.equal(stale.status, 412);
    const _if_match = String(headers.etag).replaceAll('"', '');
    assert.equal((await send({ ...edit, _if_match })).status, 303);
    assert.equal((await call('GET', `${path}/plan`)).text, '# Mine\n');
  });

  it('does nothing for a form that is not of this browser, this page, or this daemon', async (t) => {
    const { send, path, session, cookie, call, form_key } = await withPlan(t);
    const _call = `POST ${path}/approve`;
    const fields = { _call, _back: '/dashboard' };
    const refused = [
      await send({ ...fields, form_key: '' }),
      await send({ ...fields, form_key: 'A'.repeat(43) }),
      await send(fields, { cookie: '' }),
      await send(fields, { cookie: cookie.replace(/=.*/, `=${'A'.repeat(22)}`) }),
      await send(fields, { origin: 'http://localhost:3000' }),
      await send(fields, { 'sec-fetch-site': 'cross-site' }),
    ];
    assert.deepEqual(
      refused.map(({ status }) => status),
      Array(6).fill(403),
    );
    const json = await call('POST', '/dashboard/do', { ...fields, form_key }, { cookie });
    assert.equal(json.status, 415);
    assert.equal((await session()).body.status, 'plan_ready');
  });

  it('gives back the text of a form from before a restart, on the page that it was on', async (t) => {
    const { send, call } = await browse(t);
    const fields = { title: 'Kept', type: 'bug', description: 'One line,\nand another.' };
    const form = { _call: 'POST /cases', _back: '/dashboard/new', form_key: 'A'.repeat(43) };
    const { status, text } = await send({ ...form, ...fields });
    assert.equal(status, 403);
    assert.match(text, /role="alert"[^>]*>The form was loaded before the daemon was restarted/);
    assert.match(text, /<textarea id="sent-description" readonly[^>]*>One line,\nand another\.</);
    assert.match(text, /<h1[^>]*>What should be done\?[\s\S]*name="_call" value="POST \/cases"/);
    assert.deepEqual((await call('GET', '/cases')).body, []);
  });

  it('leads nowhere but into the console', async (t) => {
    const { send } = await browse(t);
    const away = ['https://example.org/', '//example.org', '/cases', 'javascript:alert(1)'];
    for (const _back of [...away, '', '/dashboards']) {
      const done = await send({ _call: 'POST /trust', _body: '{"all":true}', _back });
      assert.deepEqual([done.status, done.headers.location], [303, '/dashboard'], _back);
    }
  });

  it('says what is wrong with a form that no page of ours made', async (t) => {
    const { send } = await browse(t);
    const calls = ['', 'POST', 'POST http://example.org/', 'GET /cases', 'PUT /nowhere', 'X /a'];
    for (const _call of calls) {
      const { status, text } = await send({ _call, _back: '/dashboard' });
      assert.ok(status >= 400 && status < 500, `${_call}: ${status}`);
      assert.match(text, /role="alert"/);
    }
    const broken = await send({ _call: 'POST /cases', _back: '/dashboard', _body: '{' });
    assert.equal(broken.status, 400);
    const body = { _call: 'POST /cases', _back: '/dashboard', title: 'x', type: 'bug' };
    await send({ ...body, '__proto__.polluted': 'yes', 'constructor.polluted': 'yes' });
    assert.equal(({} as { polluted?: string }).polluted, undefined);
    assert.equal((Object as { polluted?: string }).polluted, undefined);
  });
});

const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('a page of the console', () => {
  it('is 404 in words where there is none, or what it is about is gone', async (t) => {
    const { call } = await browse(t);
    for (const path of ['nowhere', `cases/${NOBODY}`, 'cases/x/y', 'cases/']) {
      const { status, text, headers } = await call('GET', `/dashboard/${path}`);
      assert.equal(status, 404, path);
      assert.match(String(headers['content-type']), /^text\/html/);
      assert.match(text, /role="alert"/);
    }
  });

  it('cannot be broken out of by what it shows', async (t) => {
    const { call, shown, running } = await browse(t);
    const title = '</script><script>alert(1)</script><!--';
    const { body } = await call<{ id: string }>('POST', '/cases', { title, type: 'bug' });
    const { text } = await call('GET', `/dashboard/cases/${body.id}`);
    assert.equal(text.match(/<script/g)?.length, 2);
    assert.equal(text.match(/<\/script>/g)?.length, 2);
    assert.match(text, /<h1>&lt;\/script>/);
    assert.ok(running && (await shown()).includes('<h1>Inbox'));
  });

  it('runs files of ours alone, and asks nobody else', async (t) => {
    const { call } = await browse(t);
    const { headers, text } = await call('GET', '/dashboard');
    const policy = String(headers['content-security-policy']);
    assert.match(
      policy,
      /^default-src 'none'; style-src 'self' 'nonce-[\w+/]{22}=='; script-src 'self'; connect-src 'self'/,
    );
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.doesNotMatch(text, / style=| on\w+=/);
    for (const [, path = ''] of text.matchAll(/(?:src|href)="(\/dashboard\/assets\/[^"]+)"/g)) {
      const asset = await call('GET', path);
      assert.equal(asset.status, 200);
      assert.match(String(asset.headers['cache-control']), /immutable/);
    }
    for (const name of ['manifest.json', '..%2fmanifest.json', 'client.js', '%2e%2e'])
      assert.equal((await call('GET', `/dashboard/assets/${name}`)).status, 404);
  });

  it('has what waits without scripts', async (t) => {
    const { shown, call } = await withPlan(t);
    const { body } = await call<AttentionItem[]>('GET', '/attention');
    assert.equal(body.length, 1);
    assert.match(await shown(), /class="badge">1</);
  });
});
