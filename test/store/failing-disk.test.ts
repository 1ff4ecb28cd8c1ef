/** Disks that fail while the daemon writes, and limits that it meets: coded errors, whole files, and on it goes. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import type { FileProblem } from '../../store/front-matter/problem.ts';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { atEnd, killAtEnd } from '../helpers/at-end.ts';
import { DOSSIER, firstUrl, startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { readExport } from '../helpers/exported.ts';
import { inject } from '../helpers/faults.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { readOnly } from '../helpers/tiny-disk.ts';
import { assertProblem, fingerprint, told, type WithCase, withCase } from '../helpers/work-item.ts';

const FAULTS: [string, number, string][] = [
  ['fdatasync:error=EIO', 503, 'disk_failed'],
  ['fsync:error=EIO', 503, 'disk_failed'],
  ['pwrite64:error=EIO', 503, 'disk_failed'],
  ['rename:error=EIO', 503, 'disk_failed'],
  ['fsync:error=EDQUOT', 507, 'disk_full'],
  ['pwrite64:error=ENOSPC', 507, 'disk_full'],
  ['rename:error=EROFS', 503, 'read_only'],
  ['fdatasync:error=EIO:when=1+2', 503, 'disk_failed'],
  ['fsync:error=EIO:when=1+2', 503, 'disk_failed'],
];

interface Places {
  dir: string;
  session: string;
  worktree: string;
}

/** Each change is done or refused with that code. */
const tryAll = async ({ call, at }: WithCase, status: number, code: string): Promise<number> => {
  let refused = 0;
  for (const [method, path, body] of [
    ['PUT', at, { title: 'first' }],
    ['PUT', at, { title: 'second' }],
    ['PUT', `${at}/state`, { state: 'BLOCKED' }],
    ['POST', `${at}/proof`, { type: 'log', content: 'new' }],
    ['PUT', `${at}/memory/notes.md`, 'notes'],
    ['POST', '/webhooks', { url: 'http://127.0.0.1:1/' }],
    ['POST', '/cases', { title: 'new', type: 'bug' }],
  ] as const) {
    const answer = await call(method, path, body);
    if (answer.status < 300) continue;
    const isPlaced = (answer.body as { code?: string }).code === 'may_be_written';
    assertProblem(
      answer,
      ...(isPlaced ? ([503, 'may_be_written'] as const) : ([status, code] as const)),
    );
    refused += 1;
  }
  return refused;
};

describe('a disk that fails', () => {
  for (const [fault, status, code] of FAULTS)
    it(`is told as ${code}, and nothing is half done or untold (${fault})`, async (t) => {
      const work = await withCase(t);
      const faults = await inject(t, process.pid, fault);
      if (faults === undefined) return;
      const refused = await tryAll(work, status, code);
      await faults.end();
      assert.ok(refused > 0, 'the fault was met');
      const { call, at, read, running, events } = work;
      const shown = (await call<Case>('GET', at)).body;
      assert.match(read('case.md'), new RegExp(`^title: ${shown.title}$`, 'm'));
      assert.equal(shown.problems, undefined);
      assert.equal((await call('PUT', at, { title: 'last' })).status, 200);
      assert.equal((await call('PUT', `${at}/state`, { state: 'OPEN' })).status, 200);
      const known = told(events);
      const proofs = (await call<unknown[]>('GET', `${at}/proof`)).body.length;
      assert.equal(known.filter((each) => each === 'proof_created').length, proofs);
      const moves = known.filter((each) => each.startsWith('case_state_changed'));
      assert.equal(moves.at(-1)?.endsWith('OPEN') ?? true, true, moves.join());
      assert.deepEqual(readdirSync(join(running.workspace, '.dossier/tmp')), []);
      await running.restart();
      assert.deepEqual(told(events), known, 'a restart adds none');
      assert.equal((await call<Case>('GET', at)).body.title, 'last');
    });

  for (const [fault, words] of [
    ['ESTALE', /is on a disk that fails \(ESTALE\)\. Writes are refused/],
    ['ENOMEM', /this system has no memory left\. Writes are refused/],
    ['ETIMEDOUT', /cannot be written: .*, fsync\. Writes are refused/],
  ] as const)
    it(`is told by the diagnostics with the other problems, whatever it fails with (${fault})`, async (t) => {
      const { call, item, write } = await withCase(t);
      write('pr/pr.md', '---\nnumber: none\n---\n');
      const faults = await inject(t, process.pid, `fsync:error=${fault}`);
      if (faults === undefined) return;
      const { status, body } = await call<FileProblem[]>('GET', '/api/diagnostics');
      await faults.end();
      assert.equal(status, 200);
      const files = new Set(body.map(({ file }) => file));
      assert.deepEqual([...files], ['.', `${item.path}/pr/pr.md`]);
      assert.match(body[0]?.message ?? '', words);
    });

  for (const [what, fails, errno, problem] of [
    ['the listing of a month', ({ dir }) => dirname(dir), 'EIO'],
    ['the listing of a month', ({ dir }) => dirname(dir), 'ESTALE'],
    ['the listing of a Work item', ({ dir }) => dir, 'EIO'],
    ['a session', ({ session }) => join(session, 'session.md'), 'EIO', '/sessions/'],
    ['a session', ({ session }) => join(session, 'session.md'), 'ESTALE', '/sessions/'],
    ['the record of a worktree', ({ worktree }) => worktree, 'EIO'],
    ['the record of a worktree', ({ worktree }) => worktree, 'ESTALE'],
  ] satisfies [string, (at: Places) => string, string, string?][])
    it(`does not keep the daemon from its start, nor a Work item from its list (${what}: ${errno})`, async (t) => {
      const { call, at, dir, item, running } = await withCase(
        t,
        {},
        { repository: makeRepository(t) },
      );
      const body = { type: 'implementing', provider: 'manual' };
      const { path } = (await call<Session>('POST', `${at}/sessions`, body)).body;
      const worktree = join(running.workspace, `.dossier/worktrees/${item.id}.json`);
      await eventually(() => assert.ok(existsSync(worktree)));
      await running.stop();
      const place = fails({ dir, session: join(running.workspace, path), worktree });
      const faults = await inject(t, process.pid, `openat:error=${errno}:-P${place}`);
      if (faults === undefined) return;
      const before = running.told.length;
      await running.restart();
      const list = (await call<Case[]>('GET', '/cases')).body;
      const problems = (await call<FileProblem[]>('GET', '/api/diagnostics')).body;
      await faults.end();
      assert.deepEqual(
        list.map(({ title }) => title),
        [item.title],
      );
      if (problem !== undefined)
        assert.ok(problems.some(({ file }) => file.startsWith(`${item.path}${problem}`)));
      const events = running.told.slice(before).map(({ event_type }) => event_type);
      assert.deepEqual(
        events.filter((type) => type.startsWith('case_')),
        [],
      );
    });

  it('is told as may_be_written where a removed upload could be back after a power cut', async (t) => {
    const { call, at, dir } = await withCase(t);
    await call('POST', `${at}/proof`, { type: 'log', content: 'ok' });
    const faults = await inject(t, process.pid, `fsync:error=EIO:-P${join(dir, 'proof')}`);
    if (faults === undefined) return;
    const upload = `${at}/proof/files?type=shot&name=shot.png`;
    const answer = await call('POST', upload, 'x', { 'content-type': 'image/png' });
    await faults.end();
    assertProblem(answer, 503, 'may_be_written');
    assert.equal(readdirSync(join(dir, 'proof')).length, 1);
  });

  it('is told by every write when it is mounted read-only, and changes nothing', async (t) => {
    const work = await withCase(t);
    const { workspace } = work.running;
    const before = fingerprint(workspace);
    const end = readOnly(t, workspace);
    if (end === undefined) return;
    const refused = await tryAll(work, 503, 'read_only');
    const diagnostics = await work.call('GET', '/api/diagnostics');
    end();
    assert.equal(refused, 7);
    assert.match(
      diagnostics.text,
      /"unwritable".* is on a file system that is mounted read-only\./,
    );
    assert.deepEqual(fingerprint(workspace), before);
    assert.equal(await tryAll(work, 200, 'none'), 0);
  });

  it('is exported while it is mounted read-only, large files too', async (t) => {
    const { call, running, item, write } = await withCase(t);
    write('sessions/one/events.ndjson', 'x'.repeat(2_000_000));
    const end = readOnly(t, running.workspace);
    if (end === undefined) return;
    const { status, bytes } = await call('GET', '/api/export').finally(end);
    assert.equal(status, 200);
    const { entries } = await readExport(bytes);
    const large = entries.get(`${item.path}/sessions/one/events.ndjson`);
    assert.equal(large?.bytes.length, 2_000_000);
  });
});

describe('a session that cannot be noted', () => {
  it('is not there, and keeps no other waiting', async (t) => {
    const work = await withCase(t, { description: '```sh\ntrue\n```\n' });
    const faults = await inject(t, process.pid, 'fdatasync:error=EIO');
    if (faults === undefined) return;
    const sessions = `${work.at}/sessions`;
    assertProblem(await work.call('POST', sessions, { type: 'fix' }), 503, 'disk_failed');
    await faults.end();
    assert.deepEqual((await work.call('GET', sessions)).body, []);
    assert.equal((await work.call('POST', sessions, { type: 'fix' })).body.status, 'planning');
  });
});

interface Told {
  status: number | undefined;
  body: Record<string, string>;
}

/** Sends everything over one connection. */
const sender = (t: TestContext, url: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  atEnd(t, () => agent.destroy());
  return async (method: string, path: string, body: object): Promise<Told> => {
    const headers = { 'content-type': 'application/json' };
    const sent = request(`${url}${path}`, { agent, method, headers }).end(JSON.stringify(body));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, body: JSON.parse(await text(answer)) };
  };
};

describe('a limit that the daemon meets', () => {
  const limited = async (t: TestContext, limit: string) => {
    const daemon = await startDaemon(t, ['--workspace', temporaryDirectory(t)]);
    const setLimit = (value: number): unknown =>
      execFileSync('prlimit', ['--pid', `${daemon.process.pid}`, `--${limit}=${value}:`]);
    const send = sender(t, daemon.url);
    const { body } = await send('POST', '/cases', { title: 'one', type: 'bug' });
    return { setLimit, send, at: `/cases/${body.id}` };
  };

  it('is told, where a file may not grow (ulimit -f), and does not end it', async (t) => {
    const { setLimit, send, at } = await limited(t, 'fsize');
    setLimit(100_000);
    const { status, body } = await send('PUT', at, { description: 'x'.repeat(250_000) });
    assert.deepEqual([status, body.code], [507, 'disk_full']);
    assert.match(body.detail ?? '', /ulimit -f/);
    setLimit(2 ** 40);
    assert.equal((await send('PUT', at, { title: 'last' })).status, 200);
  });

  it('is told, where no more files may be opened (ulimit -n), and does not end it', async (t) => {
    const { setLimit, send, at } = await limited(t, 'nofile');
    // No further one; the connection stands already.
    setLimit(3);
    const { status, body } = await send('POST', `${at}/proof`, { type: 'log', content: 'x' });
    assert.deepEqual([status, body.code], [503, 'unavailable']);
    assert.match(body.detail ?? '', /ulimit -n/);
    setLimit(1024);
    assert.equal((await send('PUT', at, { title: 'last' })).status, 200);
  });
});

describe('a daemon that may open too few files', () => {
  for (const most of [20, 48, 127])
    it(`does not start, and says how to raise the limit (ulimit -n ${most})`, (t) => {
      const command = `ulimit -n ${most}; exec "$0" "$@"`;
      const serve = [process.execPath, DOSSIER, 'serve', '--port', '0', '--workspace'];
      const ended = spawnSync('sh', ['-c', command, ...serve, temporaryDirectory(t)], {
        encoding: 'utf8',
      });
      assert.equal(ended.status, 1);
      assert.match(
        ended.stderr,
        new RegExp(`^dossier: The limit of open files is ${most}, .*ulimit -n 1024.*\\n$`),
      );
    });
});

describe('a daemon that may open few files', () => {
  it('closes connections beyond half of them, by TCP and the socket, says so, and still writes (ulimit -n 128)', async (t) => {
    const path = join(temporaryDirectory(t), 's');
    const serve = [process.execPath, DOSSIER, 'serve', '--port', '0', '--socket', path];
    const of = ['--workspace', temporaryDirectory(t)];
    const command = ['-c', 'ulimit -n 128; exec "$0" "$@"', ...serve, ...of];
    const child = spawn('sh', command, { stdio: ['ignore', 'pipe', 'pipe'] });
    killAtEnd(t, child);
    let logged = '';
    child.stderr.on('data', (chunk: Buffer) => {
      logged += chunk.toString();
    });
    const url = await firstUrl(child);
    const send = sender(t, url);
    const create = () => send('POST', '/cases', { title: 'x', type: 'bug' });
    assert.equal((await create()).status, 201);
    const closedOf = (open: () => Socket): (() => number) => {
      const sockets = Array.from({ length: 150 }, open);
      atEnd(t, () => sockets.forEach((socket) => void socket.destroy()));
      for (const socket of sockets) socket.resume().on('error', () => undefined);
      return () => sockets.filter((socket) => socket.destroyed).length;
    };
    const byTcp = closedOf(() => connect(Number(new URL(url).port)));
    const bySocket = closedOf(() => connect(path));
    await eventually(() => assert.deepEqual([byTcp(), bySocket()], [150 - 31, 150 - 32]));
    assert.equal((await create()).status, 201);
    assert.equal(logged.match(/new connections are closed/g)?.length, 2);
  });
});

describe('a Work item whose directory has a name as long as names can be', () => {
  it('is written and removed as any other', async (t) => {
    const { call, at, dir, running } = await withCase(t);
    const long = join(dirname(dir), 'x'.repeat(255));
    renameSync(dir, long);
    await running.restart();
    assert.equal((await call('PUT', at, { title: 'new' })).status, 200);
    assert.equal((await call('POST', `${at}/proof`, { type: 'log', content: 'x' })).status, 201);
    assert.equal((await call('DELETE', at)).status, 204);
    assert.deepEqual(readdirSync(dirname(long)), []);
  });
});
