/** `require_key`, the keys of a shell, and the cookie of a browser. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { atEnd } from '../helpers/at-end.ts';
import { DOSSIER } from '../helpers/daemon.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { scriptedServer } from '../helpers/scripted-language-server.ts';
import { type Running, startForTest } from '../helpers/service.ts';

const CASES = '/cases';
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const newKey = (workspace: string, ...words: string[]): string =>
  execFileSync(process.execPath, [DOSSIER, 'key', ...words, '--workspace', workspace], {
    encoding: 'utf8',
  }).trim();

const strict = (t: TestContext): Promise<Running> =>
  startForTest(t, { settings: 'require_key: true' });

describe('require_key', () => {
  it('refuses every call without a key, and takes the same with one made in a shell', async (t) => {
    const { call, workspace } = await strict(t);
    const refused = await call<{ code: string; detail: string }>('GET', CASES);
    assert.deepEqual([refused.status, refused.body.code], [401, 'unauthorized']);
    assert.match(refused.body.detail, /dossier key/);
    assert.equal((await call('GET', '/openapi.json')).status, 401);
    assert.equal((await call('GET', '/health')).status, 200);
    assert.equal((await call('GET', '/version')).status, 200);
    const key = newKey(workspace, 'my shell');
    assert.equal((await call('GET', CASES, undefined, bearer(key))).status, 200);
    assert.equal((await call('GET', CASES, undefined, bearer(`${key}x`))).status, 401);
  });

  it('lets a browser in by a cookie, without a script, until the key is revoked', async (t) => {
    const { call, workspace } = await strict(t);
    const key = newKey(workspace, 'shell');
    const away = await call('GET', '/dashboard/keys');
    const asked = '/dashboard/login?back=%2Fdashboard%2Fkeys';
    assert.deepEqual([away.status, away.headers.location], [303, asked]);
    const page = await call('GET', asked);
    assert.match(page.text, /action="\/dashboard\/login\?back=%2Fdashboard%2Fkeys"/);
    assert.equal(page.status, 200);
    const formKey = /name="form_key" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const form = String(page.headers['set-cookie']).split(';')[0] ?? '';
    const post = (text: string, form_key = formKey, back = '') => {
      const fields = new URLSearchParams({ form_key, key: text }).toString();
      const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie: form };
      return call('POST', `/dashboard/login?back=${encodeURIComponent(back)}`, fields, headers);
    };
    assert.equal(
      (await post(key, formKey, '/dashboard/keys?a=b')).headers.location,
      '/dashboard/keys?a=b',
    );
    const elsewhere = [
      ...['//example.com', 'https://example.com/dashboard', '/\\example.com/dashboard', 'http:'],
      ...['/dashboard/../cases', '/dashboards', 'javascript:alert(1)', '/dashboard/login'],
    ];
    for (const back of elsewhere)
      assert.equal((await post(key, formKey, back)).headers.location, '/dashboard', back);
    assert.equal((await post('dossier_wrong')).status, 401);
    assert.equal((await post(key, 'of another page')).status, 403);
    const done = await post(key);
    assert.deepEqual([done.status, done.headers.location], [303, '/dashboard']);
    const set = String(done.headers['set-cookie']);
    assert.match(set, /^dossier_session_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const cookie = set.split(';')[0] ?? '';
    assert.equal((await call('GET', CASES, undefined, { cookie })).status, 200);
    assert.equal((await call('GET', '/dashboard/keys', undefined, { cookie })).status, 200);
    const foreign = { cookie, origin: 'http://example.com' };
    assert.equal((await call('GET', CASES, undefined, foreign)).status, 403);
    const [id = ''] = newKey(workspace, '--list').split(' ');
    newKey(workspace, '--revoke', id);
    assert.equal((await call('GET', CASES, undefined, { cookie })).status, 401);
    assert.equal((await call('GET', CASES, undefined, bearer(key))).status, 401);
  });
});

describe('a connection that was opened with a key', () => {
  const opened = async (t: TestContext) => {
    const settings = `require_key: true\n${scriptedServer(t).setting}`;
    const running = await startForTest(t, { listen: true, settings });
    const [mine, other] = ['mine', 'other'].map((name) => newKey(running.workspace, name));
    const follow = async (key = '') => {
      const headers = { ...bearer(key), accept: 'text/event-stream' };
      const { body, status } = await fetch(`${running.url}/events?after=now`, { headers });
      assert.equal(status, 200);
      return body?.pipeThrough(new TextDecoderStream()).getReader();
    };
    const url = `${running.url.replace('http', 'ws')}/lsp/rust/ws?project_id=default`;
    const socket = new WebSocket(url, { headers: bearer(mine ?? '') });
    atEnd(t, () => socket.terminate());
    await once(socket, 'open');
    return { running, other, streams: [await follow(mine), await follow(other)], socket };
  };

  it('ends once the key is revoked, and one with another key goes on', async (t) => {
    const { running, other = '', streams, socket } = await opened(t);
    const [revoked, kept] = streams;
    const ended = once(socket, 'close');
    const { stdout } = spawnSync(process.execPath, [
      ...[DOSSIER, 'key', '--list', '--json', '--workspace', running.workspace],
    ]);
    const keys = JSON.parse(stdout.toString()) as { id: string; name: string }[];
    const { id } = keys.find(({ name }) => name === 'mine') ?? {};
    const { status } = await running.call('DELETE', `/api-keys/${id}`, undefined, bearer(other));
    assert.equal(status, 204);
    assert.equal((await ended)[0], 1008);
    for (let done = false; !done; ) ({ done } = (await revoked?.read()) ?? { done: true });
    const made = { title: 'Later', type: 'bug' };
    await running.call('POST', CASES, made, bearer(other));
    let text = '';
    while (!text.includes('case_created')) text += (await kept?.read())?.value ?? '';
    await kept?.cancel();
  });
});

describe('a key whose file is written while a program without a sandbox runs', () => {
  it('counts once that has ended; one that was there before counts all the time', async (t) => {
    const { call, workspace, service } = await strict(t);
    const before = newKey(workspace, 'before');
    const run = service.runs.enter({ marker: randomUUID(), loopback: true, sandboxed: false });
    const meanwhile = newKey(workspace, 'meanwhile');
    const status = async (key: string) => (await call('GET', CASES, undefined, bearer(key))).status;
    assert.deepEqual([await status(before), await status(meanwhile)], [200, 401]);
    service.runs.leave(run);
    assert.deepEqual([await status(before), await status(meanwhile)], [200, 200]);
  });
});

describe('dossier key', () => {
  it('refuses a name that a key has, and an id that none has', async (t) => {
    const { workspace } = await strict(t);
    const run = (...words: string[]) =>
      spawnSync(process.execPath, [DOSSIER, 'key', ...words, '--workspace', workspace], {
        encoding: 'utf8',
      });
    assert.match(run('one').stdout, /^dossier_[\w-]{43}\n$/);
    assert.match(run('one').stderr, /There is already a key named one/);
    const unnamed = run();
    assert.deepEqual([unnamed.status, unnamed.stdout], [2, '']);
    assert.match(unnamed.stderr, /key needs a name/);
    assert.deepEqual([run('two', '--list').status, run('--list', '--revoke', 'x').status], [2, 2]);
    assert.match(run('--revoke', randomUUID()).stderr, /There is no API key/);
    assert.match(run('--list').stdout, /^[\w-]{36} {2}\S+ {2}one\n$/);
    writeFileSync(join(workspace, '.dossier', 'api-keys', 'odd.json'), '{}');
    assert.match(run('--list').stdout, / one\n$/);
  });

  it('has help of its own, as each command has', () => {
    const help = (...words: string[]): string =>
      execFileSync(process.execPath, [DOSSIER, ...words], { encoding: 'utf8' });
    const own = help('key', '--help');
    assert.match(own, /^Usage: dossier key \[NAME\]/);
    assert.match(own, /--list .*List the keys/);
    assert.match(own, /--revoke ID[\s\S]*--workspace DIR/);
    assert.doesNotMatch(own, /--fix|--port|--all/);
    assert.equal(help('help', 'key'), own);
    assert.match(help('serve', '-h'), /--port N[\s\S]*--trust/);
    assert.match(help('--help'), /Workspace:[\s\S]*\n {2}key .*[\s\S]*--workspace DIR/);
  });

  it('makes no key where no daemon ever ran, and no workspace', (t) => {
    const workspace = join(temporaryDirectory(t), 'none');
    const { status, stderr } = spawnSync(
      process.execPath,
      [DOSSIER, 'key', 'shell', '--workspace', workspace],
      { encoding: 'utf8' },
    );
    assert.equal(status, 1);
    assert.match(stderr, /is not a workspace that a daemon has used: name yours with --workspace/);
    assert.equal(existsSync(workspace), false);
  });
});
