import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { addLines, openLines } from '../../store/fs/lines.ts';
import { allItems, itemOf, itemsOf } from '../../store/reconcile/items.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { Case } from '../../store/records/case.ts';
import type { ProblemRecord } from '../../store/records/problem.ts';
import type { Proof } from '../../store/records/proof.ts';
import type { Session } from '../../store/records/session.ts';
import { parseEvent } from '../../store/sessions/transcript-event.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { assertProblem, told, type WithCase, withCase } from '../helpers/work-item.ts';

const problems = async ({ call }: WithCase): Promise<[string, string][]> => {
  const { body } = await call<ProblemRecord[]>('GET', '/api/diagnostics');
  return body.map(({ file, code }) => [file, code]);
};

describe('a folder that is none', () => {
  for (const folder of ['proof', 'webhooks', 'memory', 'sessions'])
    for (const [what, code, make] of [
      ['a link', 'symbolic_link', (path, outside) => symlinkSync(outside, path)],
      ['a file', 'not_a_directory', (path) => writeFileSync(path, 'a file')],
    ] as [string, string, (path: string, outside: string) => void][])
      it(`is told where ${folder} is ${what}, and what was in it comes back without an event`, async (t) => {
        const work = await withCase(t);
        const { call, at, dir, item, events, running } = work;
        await call('POST', `${at}/proof`, { type: 'log', content: 'ok' });
        await call('PUT', `${at}/memory/notes.md`, 'mine');
        for (const each of ['webhooks', 'sessions'])
          mkdirSync(join(dir, each), { recursive: true });
        const outside = temporaryDirectory(t);
        writeFileSync(join(outside, 'secret.md'), '---\ntype: log\n---\n');
        renameSync(join(dir, folder), join(dir, '.away'));
        make(join(dir, folder), outside);
        await sweepWorkspace(running.service.store);
        assert.deepEqual(await problems(work), [[`${item.path}/${folder}`, code]]);
        assert.equal((await call('PUT', at, { title: 'Still written' })).status, 200);
        rmSync(join(dir, folder));
        renameSync(join(dir, '.away'), join(dir, folder));
        await sweepWorkspace(running.service.store);
        assert.deepEqual(await problems(work), []);
        assert.deepEqual(told(events), ['proof_created', 'case_updated']);
        assert.deepEqual(readdirSync(outside), ['secret.md']);
      });
});

describe('a write into a folder that is a file', () => {
  const writes: [string, method: string, path: string, body?: unknown][] = [
    ['proof', 'POST', '/cases/ID/proof', { type: 'log', content: 'ok' }],
    ['proof', 'POST', '/cases/ID/proof/files?type=log', 'bytes'],
    ['proof', 'POST', '/cases/ID/proof/checklist', { description: 'd', type: 'l', required: true }],
    ['memory', 'PUT', '/cases/ID/memory/notes.md', 'mine'],
    ['memory', 'POST', '/api/cases/ID/planning/hypotheses-file'],
    ['sessions', 'POST', '/cases/ID/sessions', { type: 'implementing' }],
    ['sessions', 'POST', '/api/worktrees/ID/lock'],
    ['../../../memory', 'POST', '/api/global-memory/snapshot'],
  ];
  for (const [folder, method, path, body] of writes)
    it(`is refused with what to move away: ${method} ${path}`, async (t) => {
      const { call, dir, item } = await withCase(t);
      rmSync(join(dir, folder), { recursive: true, force: true });
      writeFileSync(join(dir, folder), 'a file');
      const answer = await call(method, path.replace('ID', item.id), body);
      const { detail } = assertProblem(answer, 400, 'bad_request');
      assert.match(
        detail,
        new RegExp(`${folder.replaceAll('../', '')} must be a directory.*Move it`),
      );
      assert.equal(readFileSync(join(dir, folder), 'utf8'), 'a file');
    });

  it('is refused for a lock that is a folder', async (t) => {
    const { call, dir, item } = await withCase(t);
    const lock = join(dir, 'sessions', 'lock.md');
    mkdirSync(lock, { recursive: true });
    const answer = await call('DELETE', `/api/worktrees/${item.id}/lock`);
    assert.match(
      assertProblem(answer, 400, 'bad_request').detail,
      /lock\.md is not a regular file/,
    );
    assert.deepEqual(readdirSync(lock), []);
  });
});

describe('what is no file where a text should be', () => {
  for (const [what, make] of [
    ['a pipe', (path) => void execFileSync('mkfifo', [path])],
    ['a directory', (path) => mkdirSync(path)],
    ['a link', (path) => symlinkSync('/etc/hostname', path)],
  ] as [string, (path: string) => void][]) {
    it(`is neither read nor written as memory: ${what}`, async (t) => {
      const { call, at, dir } = await withCase(t);
      await call('PUT', `${at}/memory/other.md`, 'other');
      make(join(dir, 'memory/notes.md'));
      for (const method of ['GET', 'PUT'])
        assertProblem(
          await call(method, `${at}/memory/notes.md`, method === 'PUT' ? 'x' : undefined),
          400,
          'bad_request',
        );
      const listed = await call<{ filename: string }[]>('GET', `${at}/memory`);
      assert.deepEqual(
        listed.body.map(({ filename }) => filename),
        ['other.md'],
      );
    });

    it(`is no transcript: ${what}`, (t) => {
      const path = join(temporaryDirectory(t), 'events.ndjson');
      make(path);
      assert.throws(() => openLines(path, parseEvent), { code: 'unsafe_path' });
    });
  }

  it('is replaced whole, when it is a memory file that is no text', async (t) => {
    const { call, at, dir, read } = await withCase(t);
    mkdirSync(join(dir, 'memory'));
    writeFileSync(join(dir, 'memory/notes.md'), Buffer.from([0x61, 0xff, 0]));
    assert.equal((await call('GET', `${at}/memory/notes.md`)).status, 200);
    assert.equal((await call('PUT', `${at}/memory/notes.md`, 'whole')).status, 200);
    assert.equal(read('memory/notes.md'), 'whole');
  });
});

describe('openLines', () => {
  it('adds to a file that is one', (t) => {
    const path = join(temporaryDirectory(t), 'events.ndjson');
    addLines(openLines(path, parseEvent), '{"a":1}\n');
    assert.equal(readFileSync(path, 'utf8'), '{"a":1}\n');
  });
});

describe('a save in two steps', () => {
  it('is no problem in between, in no list and in no log', async (t) => {
    const work = await withCase(t, {}, { watch: true });
    const { store } = work.running.service;
    const good = work.read('case.md');
    work.write('case.md', '');
    // As long as an editor takes: the hint has been looked at by then.
    await eventually(() =>
      assert.notEqual(itemOf(store, work.item.id)?.files.case.doubted_at, undefined),
    );
    assert.equal(store.problems.size, 0);
    const { body } = await work.call<Case[]>('GET', '/cases');
    assert.equal(body[0]?.problems, undefined);
    work.write('case.md', good.replace('state: OPEN', 'state: BLOCKED'));
    await eventually(() =>
      assert.deepEqual(told(work.events), ['case_state_changed OPEN BLOCKED']),
    );
    assert.deepEqual(work.running.logged, []);
  });

  it('of a new directory is no problem in between', async (t) => {
    const work = await withCase(t, {}, { watch: true });
    const { store } = work.running.service;
    const dir = join(work.running.workspace, 'cases/new');
    mkdirSync(dir);
    writeFileSync(join(dir, 'case.md'), '---\ntitle: ');
    await eventually(() => assert.equal(itemsOf(store).unsettled.size, 1));
    assert.equal(store.problems.size, 0);
    writeFileSync(join(dir, 'case.md'), '---\ntitle: By hand\n---\n');
    await eventually(() => assert.equal(allItems(store).length, 2));
    assert.equal(itemsOf(store).unsettled.size, 0);
    assert.deepEqual(work.running.logged, []);
  });

  it('whose second step never comes is a problem that is logged once, and once when it is mended', async (t) => {
    const work = await withCase(t, {}, { watch: true });
    const good = work.read('case.md');
    work.write('case.md', good.replace('type: bug', 'type: [bug'));
    const { logged } = work.running;
    await eventually(() => assert.equal(logged.length, 1));
    assert.match(String(logged[0]?.message), new RegExp(`^${work.item.path}/case.md:5:1: \\w+`));
    await sweepWorkspace(work.running.service.store);
    await delay(0);
    assert.equal(logged.length, 1, 'once');
    work.write('case.md', good);
    await eventually(async () => assert.deepEqual(await problems(work), []));
  });
});

describe('a restart while a file cannot be read', () => {
  it('keeps the Work item as it last was, and tells the change once it is mended', async (t) => {
    const work = await withCase(t, { description: 'As it was.' });
    const { call, at, item, running } = work;
    const good = work.read('case.md');
    for (const bad of [good.replace('type: bug', 'type: [bug'), good.slice(0, 30), undefined]) {
      if (bad === undefined) rmSync(join(work.dir, 'case.md'));
      else work.write('case.md', bad);
      await running.restart();
      const { body } = await call<Case>('GET', at);
      assert.deepEqual([body.title, body.state, body.problems?.length], [item.title, 'OPEN', 1]);
      assertProblem(await call('PUT', at, { title: 'x' }), 409, 'unreadable_record');
      await running.restart();
      assert.equal((await call<Case>('GET', at)).body.id, item.id);
    }
    work.write('case.md', good.replace('state: OPEN', 'state: BLOCKED'));
    await sweepWorkspace(running.service.store);
    assert.deepEqual(told(work.events), ['case_state_changed OPEN BLOCKED']);
    assert.equal((await call<Case>('GET', at)).body.description, 'As it was.');
    assert.deepEqual(await problems(work), []);
  });

  it('tells no proof a second time', async (t) => {
    const work = await withCase(t);
    const { call, at, running, events } = work;
    const proof = (await call<Proof>('POST', `${at}/proof`, { type: 'log', content: 'ok' })).body;
    const file = `proof/log-${proof.id.slice(0, 8)}.md`;
    const good = work.read(file);
    work.write(file, '');
    await running.restart();
    assert.deepEqual(await problems(work), [[`${work.item.path}/${file}`, 'empty_file']]);
    work.write(file, good);
    assert.equal((await call('GET', `${at}/proof/${proof.id}`)).status, 200);
    assert.deepEqual(told(events), ['proof_created']);
  });

  it('forgets a Work item whose directory is a folder of others by now', async (t) => {
    const work = await withCase(t);
    const below = join(work.dir, 'below');
    mkdirSync(below);
    writeFileSync(join(below, 'case.md'), '---\ntitle: Below\n---\n');
    rmSync(join(work.dir, 'case.md'));
    await work.running.restart();
    const { body } = await work.call<Case[]>('GET', '/cases');
    assert.deepEqual(
      body.map(({ title }) => title),
      ['Below'],
    );
  });
});

describe('two proofs of one id', () => {
  it('are the first, and a problem', async (t) => {
    const work = await withCase(t);
    const { body } = await work.call<Proof>('POST', `${work.at}/proof`, {
      type: 'log',
      content: 'a',
    });
    const file = `proof/log-${body.id.slice(0, 8)}.md`;
    work.write('proof/zz-copy.md', work.read(file));
    assert.equal((await work.call<Proof[]>('GET', `${work.at}/proof`)).body.length, 1);
    assert.deepEqual(await problems(work), [
      [`${work.item.path}/proof/zz-copy.md`, 'duplicate_id'],
    ]);
  });
});

describe('two directories of one session', () => {
  it('are the first, and a problem', async (t) => {
    const work = await withCase(t);
    const body = { type: 'fix', provider: 'manual' };
    const { path } = (await work.call<Session>('POST', `${work.at}/sessions`, body)).body;
    const dir = join(work.running.workspace, path);
    const copy = join(dir, '..', `copy-${path.slice(-8)}`);
    cpSync(dir, copy, { recursive: true });
    assert.deepEqual(await problems(work), [
      [`${work.item.path}/sessions/${basename(copy)}/session.md`, 'duplicate_id'],
    ]);
    rmSync(copy, { recursive: true });
    assert.deepEqual(await problems(work), []);
  });

  it('are a problem where an ended copy hides the open one', async (t) => {
    const work = await withCase(t);
    const body = { type: 'fix', provider: 'manual' };
    const { path } = (await work.call<Session>('POST', `${work.at}/sessions`, body)).body;
    const dir = join(work.running.workspace, path);
    const copy = join(dir, '..', `0-copy-${path.slice(-8)}`);
    cpSync(dir, copy, { recursive: true });
    const record = join(copy, 'session.md');
    const ended = readFileSync(record, 'utf8').replace(/^status: .*$/m, 'status: aborted');
    writeFileSync(record, ended);
    assert.deepEqual(await problems(work), [[`${path}/session.md`, 'duplicate_id']]);
    // Two that ended hide none.
    rmSync(join(dir, 'session.md'));
    writeFileSync(join(dir, 'session.md'), ended);
    assert.deepEqual(await problems(work), []);
  });
});

const NOBODY = 65_534;

/** Root may read everything: then the daemon runs as somebody else. */
const userOf = (root: string): number | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  chownSync(root, NOBODY, NOBODY);
  return NOBODY;
};

const callAt = async <T>(url: string, method: string, body?: object): Promise<T> => {
  const headers = { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
  return (await fetch(url, { method, ...sent })).json() as Promise<T>;
};

describe('what the daemon has no permission for', () => {
  it('is told, kept as it was, and goes on once it may be read', async (t) => {
    const root = temporaryDirectory(t);
    const uid = userOf(root);
    const start = () => startDaemon(t, ['--workspace', root], {}, uid);
    let daemon = await start();
    const call = <T>(method: string, path: string, body?: object): Promise<T> =>
      callAt<T>(`${daemon.url}${path}`, method, body);
    const make = (title: string) => call<Case>('POST', '/cases', { title, type: 'bug' });
    const [closed, open] = [await make('Closed'), await make('Open')];
    const told = async () => {
      const found = await call<ProblemRecord[]>('GET', '/api/diagnostics');
      return found.map(({ file, code }) => [file, code]);
    };
    const asked = async (id: string) => (await call<Case>('GET', `/cases/${id}`)).title;
    const file = `${closed.path}/case.md`;
    const month = closed.path.slice(0, closed.path.lastIndexOf('/'));
    for (const path of [file, closed.path, month]) {
      chmodSync(join(root, path), 0);
      assert.equal(await asked(closed.id), 'Closed', path);
      await eventually(async () =>
        assert.ok(
          (await told()).some(([at]) => at === file),
          path,
        ),
      );
      const refused = await call<{ code: string }>('PUT', `/cases/${closed.id}`, { title: 'x' });
      assert.equal(refused.code, 'unreadable_record', path);
      if (path !== month)
        assert.equal(
          (await call<Case>('PUT', `/cases/${open.id}`, { title: 'Open' })).title,
          'Open',
        );
      await daemon.end('SIGTERM');
      daemon = await start();
      assert.equal(await asked(closed.id), 'Closed', `${path}, after a restart`);
      chmodSync(join(root, path), path === file ? 0o644 : 0o755);
      assert.equal(await asked(closed.id), 'Closed');
      assert.equal(await asked(open.id), 'Open');
      await eventually(async () => assert.deepEqual(await told(), []));
    }
  });

  it('keeps no daemon from its start where it is an old file in .dossier/undo', async (t) => {
    const root = temporaryDirectory(t);
    const uid = userOf(root);
    const [old, older] = ['2020-01-02', '2020-01-01'].map((day) =>
      join(root, '.dossier/undo', day),
    );
    await (await startDaemon(t, ['--workspace', root], {}, uid)).end('SIGTERM');
    for (const day of [old, older]) {
      mkdirSync(day ?? '');
      writeFileSync(join(day ?? '', 'kept'), 'x');
      if (uid !== undefined) chownSync(day ?? '', uid, uid);
    }
    chmodSync(old ?? '', 0o555);
    const daemon = await startDaemon(t, ['--workspace', root], {}, uid);
    chmodSync(old ?? '', 0o755);
    assert.deepEqual(await callAt(`${daemon.url}/cases`, 'GET'), []);
    assert.match(daemon.errors(), /removing old files of .dossier\/undo\/2020-01-02/);
    assert.deepEqual(readdirSync(join(root, '.dossier/undo')), ['2020-01-02']);
  });

  it('is told of a session, and hides none: neither others nor what waits for trust', async (t) => {
    const root = temporaryDirectory(t);
    const uid = userOf(root);
    const { url } = await startDaemon(t, ['--workspace', root], {}, uid);
    const call = <T>(method: string, path: string, body?: object): Promise<T> =>
      callAt<T>(`${url}${path}`, method, body);
    const { id, path } = await call<Case>('POST', '/cases', { title: 'Two', type: 'bug' });
    const names = ['01', '02'].map((day) => {
      const short = `000000${day}`;
      const dir = join(root, path, 'sessions', `2026-01-${day}T10-00-00Z-${short}`);
      const session = `---
id: ${short}-0000-4000-8000-000000000000
type: implementing
mode: plan
status: plan_ready
provider: manual
created_at: 2026-01-${day}T10:00:00.000Z
---
`;
      writeFiles(dir, { 'session.md': session, 'plan.md': 'Do it.\n' });
      return dir;
    });
    const counts = async () => [
      (await call<unknown[]>('GET', `/cases/${id}/sessions`)).length,
      (await call<unknown[]>('GET', '/trust')).length,
    ];
    const told = async () =>
      (await call<ProblemRecord[]>('GET', '/api/diagnostics')).map(({ file }) => join(root, file));
    assert.deepEqual(await counts(), [2, 2]);
    const [first = ''] = names;
    for (const [name, expected] of [
      ['session.md', [1, 1]],
      ['plan.md', [2, 2]],
    ] as const) {
      chmodSync(join(first, name), 0);
      assert.deepEqual(await counts(), expected, name);
      await eventually(async () => assert.ok((await told()).includes(join(first, name)), name));
      chmodSync(join(first, name), 0o644);
      assert.deepEqual(await counts(), [2, 2]);
    }
  });
});
