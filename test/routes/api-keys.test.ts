import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { WaitingValue } from '../../store/records/trust.ts';
import { readExport } from '../helpers/exported.ts';
import { startForTest } from '../helpers/service.ts';
import { assertProblem, sha256 } from '../helpers/work-item.ts';

const KEYS = '/dashboard/keys';

/** The page as a browser has it: with its cookie, and the hidden field of its forms. */
const browse = async (t: TestContext) => {
  const running = await startForTest(t);
  const page = await running.call('GET', KEYS);
  const cookie = String(page.headers['set-cookie']).split(';')[0] ?? '';
  const form_key = /name="form_key" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const post = (path: string, fields: Record<string, string> = {}, headers = {}) =>
    running.call('POST', path, new URLSearchParams({ form_key, ...fields }).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
      ...{ cookie, ...headers },
    });
  const create = async (name: string) => {
    const made = await post(KEYS, { name });
    const key = /value="(dossier_[\w-]{43})"/.exec(made.text)?.[1] ?? '';
    return { made, key, headers: { authorization: `Bearer ${key}` } };
  };
  const idOf = async (name: string): Promise<string> => {
    const { text } = await running.call('GET', KEYS);
    return new RegExp(`${name}</th>.*?keys/([0-9a-f-]{36})/revoke`, 's').exec(text)?.[1] ?? '';
  };
  const dir = join(running.workspace, '.dossier/api-keys');
  return { running, call: running.call, page, cookie, form_key, post, create, idOf, dir };
};

describe(`GET ${KEYS}`, () => {
  it('is a page that runs nothing, is framed by nobody and is kept nowhere', async (t) => {
    const { page, call } = await browse(t);
    assert.equal(page.status, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    const policy = String(page.headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; style-src 'self'/);
    assert.match(policy, /form-action 'self'; base-uri 'none'; frame-ancestors 'none'/);
    assert.equal(page.headers['cache-control'], 'no-store');
    assert.match(String(page.headers['set-cookie']), /; HttpOnly; SameSite=Strict$/);
    assert.doesNotMatch(page.text, /<script| style=|onclick/);
    const style = /href="(\/[^"]+\.css)"/.exec(page.text)?.[1] ?? '';
    assert.match(String((await call('GET', style)).headers['content-type']), /^text\/css/);
  });

  it('gives a browser that has a cookie no other one', async (t) => {
    const { call, cookie, form_key } = await browse(t);
    const again = await call('GET', KEYS, undefined, { cookie });
    assert.equal(again.headers['set-cookie'], undefined);
    assert.ok(again.text.includes(form_key));
  });
});

describe('an API key whose file somebody else wrote', () => {
  it('opens nothing before the operator confirms it', async (t) => {
    const { call, dir } = await browse(t);
    const text = `dossier_${'a'.repeat(43)}`;
    const hash = sha256(text);
    const key = { id: randomUUID(), name: 'ci', created_at: '2026-11-20T10:00:00Z' };
    mkdirSync(dir, { recursive: true });
    writeFileSync(
      join(dir, `${hash}.json`),
      JSON.stringify({ ...key, last_used_at: null, sha256: hash }),
    );
    const headers = { authorization: `Bearer ${text}` };
    assertProblem(await call('GET', '/cases', undefined, headers), 401, 'unauthorized');
    const { body } = await call<WaitingValue[]>('GET', '/trust');
    assert.deepEqual(
      body.map(({ kind, key: name }) => [kind, name]),
      [['key', `api-keys/${key.id}`]],
    );
    await call('POST', '/trust', { all: true });
    assert.equal((await call('GET', '/cases', undefined, headers)).status, 200);
  });
});

describe('an API key that was used before the clock was set back', () => {
  it('tells of its next use', async (t) => {
    const { create, dir, call } = await browse(t);
    const { key } = await create('ci');
    const [name = ''] = readdirSync(dir);
    const path = join(dir, name);
    const later = new Date(Date.now() + 40 * 86_400_000).toISOString();
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('"last_used_at": null', `"last_used_at": "${later}"`));
    assert.ok(readFileSync(path, 'utf8').includes(later));
    const headers = { authorization: `Bearer ${key}` };
    assert.equal((await call('GET', '/cases', undefined, headers)).status, 200);
    assert.ok(!readFileSync(path, 'utf8').includes(later));
  });
});

describe(`POST ${KEYS}`, () => {
  it('shows a key once, and keeps its hash alone, for nobody else to read', async (t) => {
    const { create, dir, call } = await browse(t);
    const { made, key } = await create('editor plug-in');
    assert.equal(made.status, 201);
    assert.match(key, /^dossier_/);
    const [name = ''] = readdirSync(dir);
    const text = readFileSync(join(dir, name), 'utf8');
    assert.equal(JSON.parse(text).sha256, sha256(key));
    assert.ok(!text.includes(key));
    assert.equal(statSync(join(dir, name)).mode & 0o777, 0o600);
    const page = await call('GET', KEYS);
    assert.ok(page.text.includes('editor plug-in') && !page.text.includes(key));
    assert.ok(!page.text.includes(sha256(key)));
  });

  it('shows a name as it was written, whatever it holds', async (t) => {
    const { create, call } = await browse(t);
    const name = `<img src=x onerror=alert(1)>"'&`;
    const { made } = await create(name);
    assert.equal(made.status, 201);
    for (const text of [made.text, (await call('GET', KEYS)).text]) {
      assert.doesNotMatch(text, /<img/);
      assert.ok(text.includes('&lt;img src=x onerror=alert(1)>'));
    }
  });

  it('refuses a form that is not of this page', async (t) => {
    const { post, call, cookie, dir, form_key } = await browse(t);
    const refused = [
      await post(KEYS, { name: 'x', form_key: '' }),
      await post(KEYS, { name: 'x', form_key: 'A'.repeat(43) }),
      await post(KEYS, { name: 'x' }, { cookie: '' }),
      await post(KEYS, { name: 'x' }, { cookie: cookie.replace(/=.*/, `=${'A'.repeat(22)}`) }),
      await post(KEYS, { name: 'x' }, { origin: 'http://localhost:3000' }),
      await post(KEYS, { name: 'x' }, { 'sec-fetch-site': 'cross-site' }),
    ];
    assert.deepEqual(
      refused.map(({ status }) => status),
      Array(6).fill(403),
    );
    const json = await call('POST', KEYS, { name: 'x', form_key }, { cookie });
    assert.equal(json.status, 415);
    assert.deepEqual(readdirSync(dir), []);
  });

  it('says in the page what is wrong with a name', async (t) => {
    const { post, create, dir } = await browse(t);
    for (const name of ['', '   ', 'a\nb', 'x'.repeat(101)]) {
      const { status, text } = await post(KEYS, { name });
      assert.equal(status, 400);
      assert.match(text, /role="alert">The name must have 1 to 100 characters/);
    }
    await create('one');
    const again = await post(KEYS, { name: 'one' });
    assert.equal(again.status, 409);
    assert.equal(readdirSync(dir).length, 1);
  });

  it('makes one key of a form that is sent several times at once', async (t) => {
    const { post } = await browse(t);
    const answers = await Promise.all(Array.from('abcd', () => post(KEYS, { name: 'same' })));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409, 409]);
  });
});

describe('Authorization', () => {
  it('need not be there, and has to be good where it is: for each endpoint', async (t) => {
    const { create, call } = await browse(t);
    const { headers, key } = await create('one');
    for (const path of ['/cases', '/health', KEYS])
      assert.equal((await call('GET', path, undefined, headers)).status, 200);
    const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
    assert.equal((await call('POST', '/mcp', message, headers)).status, 200);
    const stream = '/cases/x/sessions/y/stream';
    for (const authorization of ['Bearer wrong', `Bearer ${key}x`, `Basic ${key}`, 'Bearer', ''])
      for (const path of ['/cases', '/health', stream, '/mcp', KEYS, '/nowhere']) {
        const answer = await call('GET', path, undefined, { authorization });
        assertProblem(answer, 401, 'unauthorized');
        assert.equal(answer.headers['www-authenticate'], 'Bearer');
      }
  });

  it('is noted on the page as the last use', async (t) => {
    const { create, call, dir } = await browse(t);
    const { headers } = await create('one');
    assert.match((await call('GET', KEYS)).text, /<td>Never<\/td>/);
    await call('GET', '/cases', undefined, headers);
    assert.doesNotMatch((await call('GET', KEYS)).text, /<td>Never<\/td>/);
    const [name = ''] = readdirSync(dir);
    const noted = readFileSync(join(dir, name), 'utf8');
    await call('GET', '/cases', undefined, headers);
    assert.equal(readFileSync(join(dir, name), 'utf8'), noted);
    assert.equal(statSync(join(dir, name)).mode & 0o777, 0o600);
  });

  it('lives as long as its file: over a restart, and not beyond the file', async (t) => {
    const { create, call, dir, running } = await browse(t);
    const { headers } = await create('one');
    await running.restart();
    assert.equal((await call('GET', '/cases', undefined, headers)).status, 200);
    const [name = ''] = readdirSync(dir);
    const text = readFileSync(join(dir, name), 'utf8');
    writeFileSync(join(dir, name), '{}');
    assertProblem(await call('GET', '/cases', undefined, headers), 401, 'unauthorized');
    assert.equal((await call('GET', KEYS)).status, 200);
    writeFileSync(join(dir, name), text);
    assert.equal((await call('GET', '/cases', undefined, headers)).status, 200);
    rmSync(join(dir, name));
    assertProblem(await call('GET', '/cases', undefined, headers), 401, 'unauthorized');
  });
});

describe('DELETE /api-keys/{id}', () => {
  it('revokes a key at once', async (t) => {
    const { create, call, idOf, dir } = await browse(t);
    const { headers } = await create('one');
    const other = await create('two');
    const id = await idOf('one');
    assert.equal((await call('DELETE', `/api-keys/${id}`)).status, 204);
    for (const path of ['/cases', '/cases/x/sessions/y/stream'])
      assertProblem(await call('GET', path, undefined, headers), 401, 'unauthorized');
    assert.equal((await call('GET', '/cases', undefined, other.headers)).status, 200);
    assertProblem(await call('DELETE', `/api-keys/${id}`), 404, 'not_found');
    const { detail } = assertProblem(await call('DELETE', '/api-keys/x'), 404, 'not_found');
    assert.match(detail, /no API key x here\. List them with `dossier key --list`\.$/);
    assert.equal(readdirSync(dir).length, 1);
  });

  it('answers one of many, and is not undone by a use at the same time', async (t) => {
    const { create, call, idOf, dir } = await browse(t);
    const { headers } = await create('one');
    const id = await idOf('one');
    const answers = await Promise.all([
      ...Array.from('abc', () => call('DELETE', `/api-keys/${id}`)),
      ...Array.from('abc', () => call('GET', '/cases', undefined, headers)),
    ]);
    const deleted = answers.slice(0, 3).map(({ status }) => status);
    assert.deepEqual(deleted.toSorted(), [204, 404, 404]);
    assert.deepEqual(readdirSync(dir), []);
    assertProblem(await call('GET', '/cases', undefined, headers), 401, 'unauthorized');
  });

  it('is a button of the page, too', async (t) => {
    const { create, call, idOf, post } = await browse(t);
    const { headers } = await create('one');
    const id = await idOf('one');
    const refused = await post(`${KEYS}/${id}/revoke`, { form_key: '' });
    assert.equal(refused.status, 403);
    const revoked = await post(`${KEYS}/${id}/revoke`);
    assert.deepEqual([revoked.status, revoked.headers.location], [303, KEYS]);
    assertProblem(await call('GET', '/cases', undefined, headers), 401, 'unauthorized');
    const again = await post(`${KEYS}/${id}/revoke`);
    assert.equal(again.status, 404);
    assert.match(again.text, /role="alert"/);
  });
});

describe('GET /api/export', () => {
  it('holds no key', async (t) => {
    const { create, call } = await browse(t);
    const { key } = await create('one');
    const { bytes } = await call('GET', '/api/export');
    const { manifest } = await readExport(bytes);
    assert.ok(manifest.files.every(({ path }) => !path.includes('api-keys')));
    assert.ok(!bytes.includes(sha256(key)));
  });
});
