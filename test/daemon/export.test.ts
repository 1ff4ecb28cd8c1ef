/** The export of a real process: what it leaves behind, seen from outside. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { type Daemon, startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { readExport } from '../helpers/exported.ts';
import { leftInTmp } from '../helpers/left-in-tmp.ts';
import { temporaryDirectory } from '../helpers/repository.ts';

// More than fits into what is under way and into the socket's buffers.
const LARGE_BYTES = 64 * 1_048_576;

const start = async (t: TestContext) => {
  const root = temporaryDirectory(t);
  mkdirSync(join(root, 'cases/a'), { recursive: true });
  writeFileSync(join(root, 'cases/a/case.md'), '---\ntitle: A\n---\n');
  writeFileSync(join(root, 'cases/a/large.bin'), randomBytes(LARGE_BYTES));
  const daemon = await startDaemon(t, ['--workspace', root, '--log-level', 'warn']);
  return { root, daemon };
};

const ask = async ({ url }: Daemon): Promise<IncomingMessage> => {
  const client = get(`${url}/api/export`);
  client.on('error', () => undefined);
  const [response] = (await once(client, 'response')) as [IncomingMessage];
  return response.on('error', () => undefined);
};

/** What the process holds that has to do with an export: the copy of a large file, and threads. */
const heldBy = ({ process }: Daemon) => {
  const of = (what: string): string[] => readdirSync(`/proc/${process.pid}/${what}`);
  const targets = of('fd').map((fd) => {
    try {
      return readlinkSync(`/proc/${process.pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return {
    copies: targets.filter((path) => path.endsWith('(deleted)')),
    threads: of('task').length,
  };
};

describe('GET /api/export of a daemon', () => {
  it('is whole for who reads it, and gone at once for who leaves', async (t) => {
    const { root, daemon } = await start(t);
    const { entries } = await readExport(await buffer(await ask(daemon)));
    assert.equal(entries.get('cases/a/large.bin')?.bytes.length, LARGE_BYTES);
    // From here on there are as many threads as the process keeps for itself.
    const idle = await eventually(() => {
      const held = heldBy(daemon);
      assert.deepEqual(held.copies, []);
      return held;
    });
    for (let round = 0; round < 3; round += 1) {
      const response = await ask(daemon);
      await eventually(() => {
        const { copies, threads } = heldBy(daemon);
        assert.equal(copies.length, 1);
        assert.ok(threads > idle.threads);
      });
      response.destroy();
      await eventually(() => assert.deepEqual(heldBy(daemon), idle));
    }
    assert.deepEqual(leftInTmp(root), []);
    assert.equal(daemon.errors(), '');
  });

  it('ends with the daemon, and does not pass for a whole one', async (t) => {
    const { root, daemon } = await start(t);
    const response = await ask(daemon);
    await once(response, 'readable');
    const ended = daemon.end('SIGTERM');
    await assert.rejects(buffer(response));
    assert.deepEqual(await ended, { code: 0, signal: null });
    const left = readdirSync(join(root, '.dossier/tmp'));
    // What is shown to runs of git's settings stays as long as the daemon.
    assert.deepEqual(
      left.filter((name) => !name.startsWith('dossier-settings-')),
      [],
    );
  });
});
