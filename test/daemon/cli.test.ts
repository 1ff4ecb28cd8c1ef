import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { atEnd, killAtEnd } from '../helpers/at-end.ts';
import { assertSentence, dossier } from '../helpers/command.ts';
import { DOSSIER, startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { filesOf } from '../helpers/workspace.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** That it answers, whether or not it has compared its files yet. */
const assertHealthy = async (url: string): Promise<void> => {
  const { status } = (await (await fetch(`${url}/health`)).json()) as { status: string };
  assert.equal(status, 'ok');
};

describe('dossier', () => {
  it('says in one line where it listens, and answers there', async (t) => {
    const workspace = temporaryDirectory(t);
    const { root } = makeRepository(t);
    const args = ['serve', '--workspace', workspace, '--repo', root, '--port', '0'];
    const child = spawn(process.execPath, [DOSSIER, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    killAtEnd(t, child);
    child.stderr.resume();
    const output = child.stdout.toArray();
    const [first] = await once(child.stdout, 'data');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(first))?.[0] ?? '';
    await assertHealthy(url);
    const { version, commit } = (await (await fetch(`${url}/version`)).json()) as Record<
      string,
      string
    >;
    const { version: packaged } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    assert.equal(version, packaged);
    assert.match(commit ?? '', /^[0-9a-f]{40}$/);
    child.kill('SIGTERM');
    await once(child, 'exit');
    assert.equal(
      Buffer.concat(await output)
        .toString()
        .split('\n').length,
      2,
    );
  });

  it('makes settings and what git needs to know where there are none, and never a second time', async (t) => {
    const workspace = temporaryDirectory(t);
    const first = await startDaemon(t, ['--workspace', workspace]);
    const made = ['.gitattributes', '.gitignore', 'workspace.md'];
    assert.deepEqual([...filesOf(workspace).keys()].toSorted(), made);
    assert.match(first.errors(), /"made":\[/);
    await first.end('SIGTERM');
    writeFileSync(join(workspace, 'workspace.md'), '---\nprovider: manual\n---\n');
    const second = await startDaemon(t, ['--workspace', workspace]);
    await second.end('SIGTERM');
    assert.equal(filesOf(workspace).get('workspace.md'), '---\nprovider: manual\n---\n');
  });

  for (const [signal, ended] of [
    ['SIGTERM', { code: 0, signal: null }],
    ['SIGINT', { code: 0, signal: null }],
    ['SIGHUP', { code: null, signal: 'SIGHUP' }],
  ] as const) {
    it(`stops on ${signal}, and changes nothing on disk`, async (t) => {
      const workspace = temporaryDirectory(t);
      const daemon = await startDaemon(t, ['--workspace', workspace]);
      const body = JSON.stringify({ title: 'One', type: 'task' });
      const headers = { 'content-type': 'application/json' };
      await fetch(`${daemon.url}/cases`, { method: 'POST', headers, body });
      const before = filesOf(workspace);
      assert.equal(before.size, 4);
      assert.deepEqual(await daemon.end(signal), ended);
      assert.deepEqual(filesOf(workspace), before);
      assert.equal(existsSync(join(workspace, '.dossier/owner.json')), false);
    });
  }

  it('goes on, and stops as ever, where its log cannot be written, as on a full disk', async (t) => {
    const args = ['serve', '--port', '0', '--workspace', temporaryDirectory(t)];
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [DOSSIER, ...args], { stdio: ['ignore', 'pipe', full] });
    closeSync(full);
    killAtEnd(t, child);
    await once(child.stdout as Readable, 'data');
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('ends at once when it is asked a second time', async (t) => {
    const daemon = await startDaemon(t, ['--workspace', temporaryDirectory(t)]);
    const { host, port } = new URL(daemon.url);
    const socket = connect(Number(port), '127.0.0.1');
    atEnd(t, () => socket.destroy());
    // A request whose body does not come keeps a polite stop waiting for two seconds.
    const head = ['POST /cases HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json'];
    socket.write([...head, 'Content-Length: 10', 'Expect: 100-continue', '', ''].join('\r\n'));
    assert.match(String(await once(socket, 'data')), /100 Continue/);
    const ended = daemon.end('SIGTERM');
    const asking = new AbortController();
    void ended.finally(() => asking.abort());
    for await (const _ of every(50, asking.signal)) daemon.process.kill('SIGTERM');
    assert.deepEqual(await ended, { code: 143, signal: null });
  });

  it('refuses a workspace that another daemon has, and names its process', async (t) => {
    const workspace = temporaryDirectory(t);
    const first = await startDaemon(t, ['--workspace', workspace]);
    const second = await dossier(t, 'serve', '--workspace', workspace, '--port', '0');
    assert.equal(second.code, 1);
    assertSentence(second, new RegExp(`process ${first.process.pid} .*${first.url}`));
    await assertHealthy(first.url);
  });

  it('takes over at once from one that was killed', async (t) => {
    const workspace = temporaryDirectory(t);
    const first = await startDaemon(t, ['--workspace', workspace]);
    assert.deepEqual(await first.end('SIGKILL'), { code: null, signal: 'SIGKILL' });
    const next = await startDaemon(t, ['--workspace', workspace]);
    await assertHealthy(next.url);
  });

  it('ends with 1 and frees the workspace after an error that nobody caught', async (t) => {
    const workspace = temporaryDirectory(t);
    const fault = 'process.on("SIGUSR2", () => Promise.reject(new Error("nobody catches this")))';
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}` };
    const daemon = await startDaemon(t, ['--workspace', workspace], env);
    assert.deepEqual(await daemon.end('SIGUSR2'), { code: 1, signal: null });
    await eventually(() =>
      assert.match(daemon.errors(), /"message":"nobody catches this","stack"/),
    );
    assert.equal(existsSync(join(workspace, '.dossier/owner.json')), false);
  });

  it('refuses with one sentence what cannot be', async (t) => {
    const dir = temporaryDirectory(t);
    writeFileSync(join(dir, 'file'), '');
    mkdirSync(join(dir, 'space'));
    symlinkSync('loop', join(dir, 'loop'));
    const taken = createServer().listen(0, '127.0.0.1');
    atEnd(t, () => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const space = ['--workspace', join(dir, 'space')];
    const broken = join(dir, 'line\nbreak');
    renameSync(makeRepository(t).root, broken);
    for (const [args, pattern] of [
      [['--workspace', join(dir, 'file')], /file is a file/],
      [
        ['--workspace', join(dir, 'file/below')],
        /below is a file, or below one\. Fix that, or give another/,
      ],
      [['--workspace', '/proc/nothing/here'], /cannot be created/],
      [[...space, '--host', '0.0.0.0'], /0\.0\.0\.0 is reachable from other machines/],
      [[...space, '--port', String(port)], new RegExp(`Port ${port} is in use`)],
      [[...space, '--repo', dir], /is not a git repository/],
      [[...space, '--repo', join(dir, 'nowhere')], /is not a git repository/],
      [[...space, '--repo', join(dir, 'loop')], /loop is a loop of symbolic links/],
      [[...space, '--repo', broken], /line\\nbreak" has a line break in its real path/],
    ] as const) {
      const ended = await dossier(t, 'serve', ...args, '--log-level', 'silent');
      assert.equal(ended.code, 1, args.join(' '));
      assertSentence(ended, pattern);
    }
  });

  it('answers 2 to what it does not understand', async (t) => {
    const space = ['--workspace', temporaryDirectory(t)];
    for (const [args, pattern] of [
      [['--prot', '1'], /--prot/],
      [['--port', 'many'], /port must be a number/],
      [['--port', '65536'], /port must be a number/],
      [['fly'], /no command fly/],
      [['serve', 'more'], /no arguments/],
      [['import'], /import needs PATH: dossier import PATH/],
      [['check', '--port', '1'], /check has no option --port, which belongs to up, serve/],
      [['mcp', '--json'], /mcp has no option --json\. See/],
      [['new', '--file'], /--file needs a value\. See/],
      [['ls', '--json=1'], /--json takes no value\. See/],
      // --for is no option of ls.
      [['ls', '--foo'], /Unknown option: --foo\. See/],
      [['say', 'one'], /say needs TEXT\.\.\.: dossier say ITEM TEXT\.\.\. See/],
      [['serve', '--log-level', 'loud'], /log level/],
    ] as const) {
      const ended = await dossier(t, ...space, ...args);
      assert.equal(ended.code, 2, args.join(' '));
      assertSentence(ended, pattern);
    }
  });

  it('tells its help and its version', async (t) => {
    const help = await dossier(t, '--help');
    assert.deepEqual([help.code, help.stderr], [0, '']);
    for (const word of ['serve', 'init', 'doctor', '--workspace'])
      assert.ok(help.stdout.includes(word), word);
    const serve = await dossier(t, 'help', 'serve');
    for (const word of ['--repo', '--port', '--dev']) assert.ok(serve.stdout.includes(word), word);
    assert.equal((await dossier(t, 'serve', '--help')).stdout, serve.stdout);
    assert.equal((await dossier(t, 'help')).stdout, help.stdout);
    assert.match(
      (await dossier(t, '--version')).stdout,
      /^dossier \d+\.\d+\.\d+ \([0-9a-f]{12}\)\n$/,
    );
  });

  it('leaves no process behind when npm start is ended', async (t) => {
    const workspace = temporaryDirectory(t);
    const args = ['start', '--silent', '--', 'serve', '--workspace', workspace, '--port', '0'];
    const npm = spawn('npm', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    killAtEnd(t, npm);
    npm.stderr.resume();
    const [line] = await once(npm.stdout, 'data');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(line))?.[0] ?? '';
    const { pid } = JSON.parse(readFileSync(join(workspace, '.dossier/owner.json'), 'utf8'));
    await assertHealthy(url);
    npm.kill('SIGTERM');
    await once(npm, 'exit');
    await eventually(() => assert.throws(() => process.kill(pid, 0)));
    await assert.rejects(assertHealthy(url), TypeError);
  });
});

const every = async function* (ms: number, signal: AbortSignal): AsyncGenerator<void> {
  while (!signal.aborted) {
    await pause(ms);
    yield;
  }
};
