/** The default socket: how commands and clients call without being looked up, and what a run sees of it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect as connectTo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Problem } from '../../lib/client/client.ts';
import { connect } from '../../lib/client/node/connect.ts';
import { socketDirs, socketName } from '../../lib/client/node/socket-path.ts';
import { atEnd } from '../helpers/at-end.ts';
import { dossierIn } from '../helpers/command.ts';
import { type Daemon, startDaemon } from '../helpers/daemon.ts';
import { until } from '../helpers/eventually.ts';
import { missing } from '../helpers/inside.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';

/** At a short path: a socket's has 107 bytes at most. */
const shortPlace = (t: TestContext): string => temporaryDirectory(t, '/tmp');

interface Place {
  daemon: Daemon;
  workspace: string;
  env: Record<string, string>;
  socket: string;
  verb(...args: string[]): ReturnType<typeof dossierIn>;
}

const start = async (
  t: TestContext,
  { state = shortPlace(t), runtime = '', settings = '', more = [] as string[] } = {},
): Promise<Place> => {
  const workspace = temporaryDirectory(t);
  if (settings !== '') writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}\n---\n`);
  const env = { XDG_STATE_HOME: state, XDG_RUNTIME_DIR: runtime };
  const args = ['--workspace', workspace, '--repo', makeRepository(t).root, ...more];
  const daemon = await startDaemon(t, args, env);
  const [dir = ''] = socketDirs(runtime === '' ? { XDG_STATE_HOME: state } : env);
  return {
    ...{ daemon, workspace, env },
    socket: join(dir, socketName(daemon.url)),
    verb: (...words) =>
      dossierIn(t, { env: { ...process.env, ...env } }, [...words, '--workspace', workspace]),
  };
};

/** Counts the connections to a socket, which all go through. */
const countAt = async (t: TestContext, path: string): Promise<() => number> => {
  let count = 0;
  renameSync(path, `${path}.real`);
  const server = createServer((socket) => {
    count += 1;
    const inner = connectTo(`${path}.real`);
    inner.on('error', () => socket.destroy());
    socket.on('error', () => inner.destroy());
    socket.pipe(inner).pipe(socket);
  }).listen(path);
  await once(server, 'listening');
  atEnd(t, () => server.close());
  return () => count;
};

describe('the default socket', () => {
  it('is in the state directory, open to this user alone, and gone when the daemon has ended', async (t) => {
    const { daemon, socket, workspace, verb } = await start(t);
    assert.equal(statSync(join(socket, '..')).mode & 0o777, 0o700);
    assert.equal(statSync(join(socket, '../..')).mode & 0o777, 0o700);
    assert.equal(statSync(socket).mode & 0o777, 0o600);
    const owner = JSON.parse(readFileSync(join(workspace, '.dossier/owner.json'), 'utf8'));
    assert.equal(owner.socket, socket);
    assert.equal(JSON.parse((await verb('status', '--json')).stdout).socket, socket);
    await daemon.end('SIGTERM');
    assert.equal(existsSync(socket), false);
  });

  it('is in the runtime directory where that is this user’s alone', async (t) => {
    const runtime = shortPlace(t);
    const { socket } = await start(t, { runtime });
    assert.ok(socket.startsWith(`${runtime}/dossier/`));
    assert.ok(statSync(socket).isSocket());
    const open = shortPlace(t);
    chmodSync(open, 0o755);
    const other = await start(t, { runtime: open });
    assert.equal(existsSync(join(open, 'dossier')), false);
    const owner = JSON.parse(readFileSync(join(other.workspace, '.dossier/owner.json'), 'utf8'));
    assert.ok(owner.socket.startsWith(other.env.XDG_STATE_HOME));
  });

  it('is what commands and the client call by, without being told', async (t) => {
    const { daemon, socket, env, verb } = await start(t);
    const connections = await countAt(t, socket);
    const made = await verb('new', 'By a socket', '--json');
    assert.equal(made.code, 0, made.stderr);
    assert.equal(connections(), 1);
    const before = process.env.XDG_STATE_HOME;
    process.env.XDG_STATE_HOME = env.XDG_STATE_HOME;
    atEnd(t, () => {
      if (before === undefined) delete process.env.XDG_STATE_HOME;
      else process.env.XDG_STATE_HOME = before;
    });
    const dossier = connect({ url: daemon.url });
    assert.equal((await dossier.call('GET /cases')).length, 1);
    await assert.rejects(dossier.call('GET /cases/{id}', { id: made.stdout.slice(0, 8) }), Problem);
    const file = await dossier.call('GET /api/export');
    assert.equal(Buffer.from(await file.arrayBuffer()).toString('latin1', 0, 2), 'PK');
    const [{ id } = { id: '' }] = await dossier.call('GET /cases');
    const body = '# Notes\n';
    await dossier.call('PUT /cases/{id}/memory/{filename}', { id, filename: 'notes.md', body });
    assert.ok(connections() > 1);
  });

  it('is not needed: without one, or after a kill, commands call by the port', async (t) => {
    const none = await start(t, { more: ['--socket', 'none'] });
    assert.equal(existsSync(none.socket), false);
    assert.equal((await none.verb('ls')).code, 0);
    const { daemon, socket, verb, workspace, env } = await start(t);
    await daemon.end('SIGKILL');
    assert.ok(existsSync(socket));
    const args = ['--workspace', workspace, '--port', new URL(daemon.url).port];
    const second = await startDaemon(t, [...args, '--socket', 'none'], env);
    assert.equal((await verb('ls')).code, 0);
    // The path is there, and no daemon listens on it.
    assert.deepEqual(await connect({ url: daemon.url, socket }).call('GET /cases'), []);
    await second.end('SIGTERM');
    await startDaemon(t, args, env);
    const connections = await countAt(t, socket);
    assert.equal((await verb('ls')).code, 0);
    assert.equal(connections(), 1);
  });

  it('is not made where another user could enter or the path is too long; the daemon says so and runs', async (t) => {
    const open = shortPlace(t);
    mkdirSync(join(open, 'dossier/run'), { recursive: true });
    chmodSync(join(open, 'dossier'), 0o700);
    chmodSync(join(open, 'dossier/run'), 0o755);
    const long = join(shortPlace(t), 'x'.repeat(90));
    for (const [state, why] of [
      [open, /chmod 700/],
      [long, /more than 107 bytes/],
    ] as const) {
      const { daemon, verb } = await start(t, { state });
      assert.match(daemon.errors(), why);
      assert.equal((await verb('ls')).code, 0);
    }
  });

  it('opens nothing while a run lives outside the sandbox; commands then call by the port, which looks them up', async (t) => {
    const place = await start(t, { settings: 'sandbox: off' });
    const { verb, socket, workspace } = place;
    const out = temporaryDirectory(t);
    // The run knows the place: it tries to make a Work item by it.
    const agent = `curl -s -o ${out}/answer -w '%{http_code}' --unix-socket ${socket} -H 'content-type: application/json' -d '{"title":"By a run","type":"chore"}' http://127.0.0.1/cases > ${out}/status`;
    const wait = `while [ ! -e ${out}/done ]; do sleep 0.1; done`;
    const id = await approved(place, `${agent}\n${wait}`);
    await until(
      () => existsSync(join(out, 'status')) && readFileSync(join(out, 'status'), 'utf8') !== '',
    );
    assert.equal(readFileSync(join(out, 'status'), 'utf8'), '403');
    assert.match(readFileSync(join(out, 'answer'), 'utf8'), /not_operator/);
    // The operator's own commands go on, by TCP and its check.
    const listed = await verb('ls', '--json');
    assert.equal(listed.code, 0, listed.stderr);
    assert.deepEqual(
      JSON.parse(listed.stdout).map((item: { title: string }) => item.title),
      ['Work'],
    );
    assert.ok(existsSync(workspace));
    writeFileSync(join(out, 'done'), '');
    await until(async () => (await verb('show', id)).stdout.includes('completed'));
  });

  it('is shown by no sandbox, whatever the settings show and reach', {
    skip: missing,
  }, async (t) => {
    // Neither /tmp nor a home directory: a sandbox shows it.
    const state = temporaryDirectory(t, '/var/tmp');
    const settings = `sandbox_readable: [${state}, /var/tmp]\nallow_local: ['127.0.0.1:4870', 'localhost:5432']`;
    const place = await start(t, { state, settings });
    const script = [
      `ls -A ${join(state, 'dossier/run')} > seen.txt 2>&1 || true`,
      `curl -s --max-time 5 --unix-socket ${place.socket} http://127.0.0.1/cases >> seen.txt || echo "exit $?" >> seen.txt`,
      `find ${state} -name '*.sock' >> seen.txt`,
    ];
    const id = await approved(place, script.join('\n'));
    await until(async () => (await place.verb('show', id)).stdout.includes('completed'));
    const { stdout: path } = await place.verb('path', id);
    assert.equal(readFileSync(join(path.trim(), 'seen.txt'), 'utf8'), 'exit 7\n');
  });
});

/** A session of the runbook that works on this script; the id of its Work item. */
const approved = async ({ daemon }: Place, script: string): Promise<string> => {
  const dossier = connect({ url: daemon.url, fetch: globalThis.fetch });
  const description = `\`\`\`sh\n${script}\n\`\`\`\n`;
  const { id } = await dossier.call('POST /cases', {
    body: { title: 'Work', type: 'chore', description },
  });
  const { id: sid } = await dossier.call('POST /cases/{id}/sessions', {
    id,
    body: { type: 'implementing' },
  });
  await until(
    async () =>
      (await dossier.call('GET /cases/{id}/sessions/{sid}', { id, sid })).status === 'plan_ready',
  );
  await dossier.call('POST /cases/{id}/sessions/{sid}/approve', { id, sid });
  return id;
};
