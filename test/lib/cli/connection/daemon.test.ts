import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { findDaemon } from '../../../../lib/cli/connection/daemon.ts';
import type { Config } from '../../../../lib/config.ts';
import type { Owner } from '../../../../store/workspace/owner.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { assertSentence, dossier, dossierIn } from '../../../helpers/command.ts';
import { startDaemon } from '../../../helpers/daemon.ts';
import { temporaryDirectory } from '../../../helpers/repository.ts';

const ownerIn = (workspace: string) => {
  const path = join(workspace, '.dossier/owner.json');
  const read = (): Owner => JSON.parse(readFileSync(path, 'utf8'));
  return { read, write: (owner: Owner) => writeFileSync(path, JSON.stringify(owner)) };
};

/** Without its socket: commands call by its port. */
const byPort = ({ socket: _, ...owner }: Owner): Owner => owner;

/** Another program, at a port or at this socket: it answers everything with what the daemon would, but for the token, and keeps what it was sent. */
const impostor = async (t: TestContext, answer: (challenge: string) => string, socket?: string) => {
  const heard: string[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    heard.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
    const asked = request.url === '/api/daemon/challenge' ? JSON.parse(body).challenge : '';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(asked === '' ? [] : { answer: answer(asked) }));
  }).listen(socket === undefined ? { port: 0, host: '127.0.0.1' } : { path: socket });
  await once(server, 'listening');
  atEnd(t, () => server.close());
  const { port = 1 } = server.address() as Partial<AddressInfo>;
  return { url: `http://127.0.0.1:${port}`, heard };
};

describe('a command that needs the daemon', () => {
  it('ends with 3 and names the command that starts one, where none runs', async (t) => {
    const workspace = temporaryDirectory(t);
    mkdirSync(join(workspace, 'cases'));
    const ended = await dossier(t, 'show', 'one', '--workspace', workspace);
    assert.equal(ended.code, 3);
    assertSentence(
      ended,
      new RegExp(
        `No daemon is running for ${workspace}: dossier --workspace ${workspace} starts one`,
      ),
    );
  });

  it('is refused where there is no workspace, and creates none', async (t) => {
    const workspace = join(temporaryDirectory(t), 'dosier');
    for (const words of [
      ['ls'],
      ['inbox'],
      ['show', 'one'],
      ['start', 'one'],
      ['adopt'],
      ['status'],
      ['stop'],
    ]) {
      const ended = await dossier(t, ...words, '--workspace', workspace);
      assert.equal(ended.code, 3, words.join(' '));
      assertSentence(
        ended,
        new RegExp(
          `There is no workspace in ${workspace}\\. Name yours with --workspace, or create one there: dossier --workspace ${workspace}\n$`,
        ),
      );
      assert.equal(existsSync(workspace), false, words.join(' '));
    }
    mkdirSync(workspace);
    const { stderr } = await dossier(t, 'inbox', '--workspace', workspace);
    assert.ok(stderr.endsWith(`create one there: dossier init --workspace ${workspace}\n`), stderr);
  });

  it('is not told to create a workspace where there is a file', async (t) => {
    const file = join(temporaryDirectory(t), 'notes');
    writeFileSync(file, 'Mine\n');
    for (const workspace of [file, join(file, 'below')]) {
      const ended = await dossier(t, 'ls', '--workspace', workspace);
      assert.equal(ended.code, 3);
      assertSentence(ended, /is a file, or below one\. Name your workspace with --workspace\.\n$/);
    }
    const trust = await dossier(t, 'trust', '--list', '--workspace', file);
    assertSentence(trust, /is a file, or below one\. Name the workspace with --workspace\.\n$/);
  });

  it('is told of a path that is too long', async (t) => {
    const workspace = join(temporaryDirectory(t), 'a'.repeat(256));
    for (const verb of ['ls', 'up', 'check', 'init']) {
      const ended = await dossier(t, verb, '--workspace', workspace);
      assert.equal(ended.code, 1, verb);
      assertSentence(ended, /\/a+\S* is too long, or has a name that is\. Fix that, .*\.\n$/);
    }
  });

  it('ends with 3 where it was killed, whatever owner.json still says', async (t) => {
    const workspace = temporaryDirectory(t);
    const daemon = await startDaemon(t, ['--workspace', workspace]);
    await daemon.end('SIGKILL');
    assert.equal((await dossier(t, 'show', 'one', '--workspace', workspace)).code, 3);
  });

  it('sends nothing, and no key, to another program at its address', async (t) => {
    const workspace = temporaryDirectory(t);
    await startDaemon(t, ['--workspace', workspace]);
    const owner = ownerIn(workspace);
    for (const answer of [
      () => '',
      (asked: string) => asked,
      (asked: string) => createHmac('sha256', '').update(asked).digest('hex'),
    ]) {
      const { url, heard } = await impostor(t, answer);
      owner.write({ ...byPort(owner.read()), url });
      const env = { ...process.env, DOSSIER_KEY: 'dossier_secret' };
      const ended = await dossierIn(t, { env }, ['ls', '--workspace', workspace]);
      assert.equal(ended.code, 1);
      assertSentence(ended, /is not the daemon of .* so nothing was sent/);
      assert.deepEqual(heard, ['POST /api/daemon/challenge ']);
    }
  });

  it('sends nothing, and no key, to another program at its socket', async (t) => {
    const workspace = temporaryDirectory(t);
    await startDaemon(t, ['--workspace', workspace]);
    const owner = ownerIn(workspace);
    const socket = join(temporaryDirectory(t), 'socket');
    const { url, heard } = await impostor(t, (asked) => asked, socket);
    owner.write({ ...owner.read(), url, socket });
    const env = { ...process.env, DOSSIER_KEY: 'dossier_secret' };
    const ended = await dossierIn(t, { env }, ['ls', '--workspace', workspace]);
    assert.equal(ended.code, 1);
    assertSentence(ended, /is not the daemon of .* so nothing was sent/);
    assert.deepEqual(heard, ['POST /api/daemon/challenge ']);
  });

  it('sends nothing to another machine, nor by dossier trust to another program', async (t) => {
    const workspace = temporaryDirectory(t);
    await startDaemon(t, ['--workspace', workspace]);
    const owner = ownerIn(workspace);
    const { url, heard } = await impostor(t, () => '');
    const env = { ...process.env, DOSSIER_KEY: 'dossier_secret' };
    const found = byPort(owner.read());
    for (const away of [url.replace('127.0.0.1', '0.0.0.0'), 'http://203.0.113.7:4870', 'x']) {
      owner.write({ ...found, url: away });
      for (const words of [['ls'], ['trust', '--list']]) {
        const ended = await dossierIn(t, { env }, [...words, '--workspace', workspace]);
        assert.equal(ended.code, 1);
        assertSentence(ended, /which is not this machine, so nothing was sent/);
      }
    }
    owner.write({ ...found, url });
    const ended = await dossierIn(t, { env }, ['trust', '--list', '--workspace', workspace]);
    assertSentence(ended, /is not the daemon of .* so nothing was sent/);
    assert.deepEqual(heard, ['POST /api/daemon/challenge ']);
  });

  it('is not asked again once it has listened and not answered in time, as when it is suspended', async (t) => {
    const workspace = temporaryDirectory(t);
    await startDaemon(t, ['--workspace', workspace]);
    const timeout = t.mock.method(AbortSignal, 'timeout', () => AbortSignal.abort());
    const { pid } = ownerIn(workspace).read();
    await assert.rejects(
      findDaemon({ workspace, env: {} } as Config),
      new RegExp(`not answered for 10 s\\. If it is suspended, continue it: kill -CONT ${pid}\\.`),
    );
    assert.equal(timeout.mock.callCount(), 1);
  });

  it('says that a daemon which runs does not answer, and where its log is', async (t) => {
    const workspace = temporaryDirectory(t);
    await startDaemon(t, ['--workspace', workspace]);
    const owner = ownerIn(workspace);
    owner.write({ ...byPort(owner.read()), url: 'http://127.0.0.1:1' });
    const ended = await dossier(t, 'ls', '--workspace', workspace);
    assert.equal(ended.code, 1);
    assertSentence(ended, /does not answer at http:\/\/127\.0\.0\.1:1\. .*daemon\.log/);
  });

  it('shows the key in DOSSIER_KEY to the daemon that has answered, and says what a daemon wants', async (t) => {
    const workspace = temporaryDirectory(t);
    writeFileSync(join(workspace, 'workspace.md'), '---\nrequire_key: true\n---\n');
    await startDaemon(t, ['--workspace', workspace]);
    const without = await dossier(t, 'ls', '--workspace', workspace);
    assert.equal(without.code, 1);
    assertSentence(without, /key/i);
    const key = (await dossier(t, 'key', 'shell', '--workspace', workspace)).stdout.trim();
    const env = { ...process.env, DOSSIER_KEY: key };
    const ended = await dossierIn(t, { env }, ['ls', '--workspace', workspace]);
    assert.deepEqual([ended.code, ended.stdout, ended.stderr], [0, '', '']);
  });
});
