/** The socket of --socket: whoever may open it is the operator, and no run in a sandbox sees it, whenever it was made. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { dossier } from '../helpers/command.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually, until } from '../helpers/eventually.ts';
import { missing, runInside } from '../helpers/inside.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';

const placeIn = (t: TestContext, parent = '/tmp'): string =>
  join(temporaryDirectory(t, parent), 'own', 'socket');

const call = async (
  socketPath: string,
  { method = 'GET', path = '/cases', headers = {}, body = '' } = {},
): Promise<{ status: number | undefined; text: string }> => {
  // A connection that was there before a run stays the operator's: each call has its own.
  const own = { host: 'localhost', ...headers };
  const asked = request({ socketPath, method, path, headers: own, agent: false });
  asked.end(body);
  const [answer] = await once(asked, 'response');
  return { status: answer.statusCode, text: Buffer.concat(await answer.toArray()).toString() };
};

const json = { 'content-type': 'application/json' };

describe('dossier serve --socket', () => {
  it('takes calls of whoever can open it, in a directory of its own, and leaves nothing behind', async (t) => {
    const path = placeIn(t);
    const daemon = await startDaemon(t, ['--workspace', temporaryDirectory(t), '--socket', path]);
    assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const body = JSON.stringify({ title: 'By a socket', type: 'chore' });
    // A run without a sandbox, of another daemon of this user, goes by.
    await eventually(async () => {
      const made = await call(path, { method: 'POST', headers: json, body });
      assert.equal(made.status, 201, made.text);
    });
    assert.equal((await fetch(`${daemon.url}/cases`)).status, 200);
    const headers = { host: 'localhost:8080', origin: 'http://localhost:8080' };
    assert.equal((await call(path, { headers })).status, 200);
    for (const wrong of [{ host: 'evil.example' }, { origin: 'http://localhost:3000' }])
      assert.equal((await call(path, { headers: wrong })).status, 403);
    await daemon.end('SIGTERM');
    assert.equal(existsSync(path), false);
  });

  it('takes the place of one that a killed daemon left, and of nobody who listens', async (t) => {
    const [path, workspace] = [placeIn(t), temporaryDirectory(t)];
    const args = ['--workspace', workspace, '--socket', path];
    await (await startDaemon(t, args)).end('SIGKILL');
    assert.equal(existsSync(path), true);
    await startDaemon(t, args);
    assert.equal((await call(path)).status, 200);
    const more = ['serve', '--port', '0', '--workspace', temporaryDirectory(t), '--socket', path];
    const ended = await dossier(t, ...more);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /Another program listens on/);
    assert.equal((await call(path)).status, 200);
  });

  it('is refused where another user could open it, or a sandbox may show it', async (t) => {
    const { root } = makeRepository(t);
    const [open, full] = [placeIn(t), placeIn(t)];
    mkdirSync(join(open, '..'));
    chmodSync(join(open, '..'), 0o755);
    mkdirSync(join(full, '..'), { mode: 0o700 });
    writeFileSync(join(full, '../more'), '');
    const workspace = join(temporaryDirectory(t), 'space');
    for (const [path, pattern] of [
      [open, /no other user can enter: run chmod 700/],
      [full, /must contain only the socket/],
      [placeIn(t, '/var/tmp'), /may be visible in a sandbox/],
      [join(root, 'own/socket'), /is in a git repository/],
      ['/tmp/socket', /may be visible in a sandbox/],
      ['own/socket', /give an absolute path/],
      [`/tmp/${'x'.repeat(100)}/socket`, /of at most 107 bytes/],
    ] as const) {
      const args = ['serve', '--port', '0', '--workspace', workspace, '--socket', path];
      const ended = await dossier(t, ...args);
      assert.equal(ended.code, 1, path);
      assert.match(ended.stderr, pattern);
      assert.equal(existsSync(workspace), false);
    }
  });

  for (const network of ['host', 'own'] as const)
    it(`is out of reach of a run in a sandbox, also once the daemon is another one (network: ${network})`, {
      skip: missing,
    }, async (t) => {
      const path = placeIn(t);
      const args = ['--workspace', temporaryDirectory(t), '--socket', path];
      const first = await startDaemon(t, args);
      const cwd = temporaryDirectory(t, '/var/tmp');
      const knock = `${process.execPath} -e "require('net').connect('${path}').on('error', (e) => console.log(e.code)).on('connect', () => { console.log('in'); process.exit() })"`;
      const net = temporaryDirectory(t);
      const ran = runInside(
        {
          ...{ cwd, phase: 'work', writable: [], hidden: [] },
          network: network === 'host' ? 'host' : { dir: net, relay: [] },
        },
        `${knock}; touch begun; while [ ! -e again ]; do sleep 0.1; done; ${knock}`,
      );
      await until(() => existsSync(join(cwd, 'begun')));
      await first.end('SIGTERM');
      await startDaemon(t, args);
      writeFileSync(join(cwd, 'again'), '');
      assert.equal((await ran).output, 'ENOENT\nENOENT');
      assert.equal((await call(path)).status, 200);
    });

  it('asks for a key while a run without a sandbox could open it', async (t) => {
    const [path, workspace] = [placeIn(t), temporaryDirectory(t)];
    writeFileSync(join(workspace, 'workspace.md'), '---\nsandbox: off\n---\n');
    const out = temporaryDirectory(t);
    const args = ['--workspace', workspace, '--repo', makeRepository(t).root, '--socket', path];
    const { url } = await startDaemon(t, args);
    const made = async (to: string, body: object): Promise<string> => {
      const asked = { method: 'POST', headers: json, body: JSON.stringify(body) };
      const answer = await fetch(`${url}${to}`, asked);
      const text = await answer.text();
      assert.equal(answer.status, 201, text);
      return JSON.parse(text).id;
    };
    // One that is made while such a run lives counts once that has ended.
    const key = (await dossier(t, 'key', 'shell', '--workspace', workspace)).stdout.trim();
    const agent = `${process.execPath} -e "require('http').request({ socketPath: '${path}', method: 'POST', path: '/webhooks', headers: { host: 'localhost' } }, (a) => require('fs').writeFileSync('${out}/answer', String(a.statusCode))).end()"`;
    const wait = `while [ ! -e ${out}/done ]; do sleep 0.1; done`;
    const description = `\`\`\`sh\n${agent}\n${wait}\n\`\`\`\n`;
    const item = await made('/cases', { title: 'Work', type: 'chore', description });
    const session = await made(`/cases/${item}/sessions`, { type: 'implementing' });
    const at = `/cases/${item}/sessions/${session}`;
    await until(async () => (await call(path, { path: at })).text.includes('"plan_ready"'));
    assert.equal((await fetch(`${url}${at}/approve`, { method: 'POST' })).status, 200);
    await eventually(() => assert.equal(readFileSync(join(out, 'answer'), 'utf8'), '403'));
    const write = { method: 'POST', headers: json, body: '{"title":"Mine","type":"chore"}' };
    const refused = await call(path, write);
    assert.equal(refused.status, 403);
    assert.match(refused.text, /not_operator/);
    const headers = { ...json, authorization: `Bearer ${key}` };
    assert.equal((await call(path, { ...write, headers })).status, 201);
    writeFileSync(join(out, 'done'), '');
    await until(async () => (await call(path, write)).status === 201);
  });
});
