/** Somebody sets the clock: nothing is deleted, held or freed by that. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { readEntry } from '../../store/front-matter/entry.ts';
import { readFolder } from '../../store/front-matter/folder.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { AttentionItem } from '../../store/records/attention.ts';
import type { Case } from '../../store/records/case.ts';
import type { LockMatter } from '../../store/records/lock.ts';
import type { Proof } from '../../store/records/proof.ts';
import { acquireLock, readLock, releaseLock } from '../../store/sessions/locks.ts';
import { atEnd } from '../helpers/at-end.ts';
import { until } from '../helpers/eventually.ts';
import { gitIn, temporaryDirectory } from '../helpers/repository.ts';
import { newestSession, startForTest } from '../helpers/service.ts';
import { withCase as withSession } from '../helpers/sessions.ts';
import { withCase } from '../helpers/work-item.ts';

const HOUR = 3_600_000;
const HOLDER: LockMatter = { kind: 'operator', name: 'me', acquired_at: new Date().toISOString() };

const parse = (text: string): string => text;
type Entries = ReturnType<typeof readFolder<string>>['entries'];

const setClock = (t: TestContext, by: number): void => {
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + by });
};

describe('readFolder', () => {
  for (const by of [HOUR, -HOUR])
    it(`waits as long as ever for what has vanished when the clock is set by ${by} ms`, async (t) => {
      const dir = temporaryDirectory(t);
      const look = (before: Entries) => readFolder(dir, before, { parse }).entries;
      writeFileSync(join(dir, 'a.md'), 'a');
      const before = look(new Map());
      rmSync(join(dir, 'a.md'));
      let now = look(before);
      assert.deepEqual([...now.keys()], ['a.md'], 'an editor may put it back');
      setClock(t, by);
      now = look(now);
      assert.deepEqual([...now.keys()], ['a.md'], 'the clock says nothing');
      await until(() => {
        now = look(now);
        return now.size === 0;
      });
    });
});

/** Runs work while this process may open no further file. */
const withoutFiles = <T>(work: () => T): T => {
  const limit = (value: string): unknown =>
    execFileSync('prlimit', ['--pid', `${process.pid}`, `--nofile=${value}:`]);
  limit('256');
  const open: number[] = [];
  try {
    for (;;) open.push(openSync('/dev/null', 'r'));
  } catch {
    return work();
  } finally {
    for (const file of open) closeSync(file);
    limit('1024');
  }
};

describe('readEntry', () => {
  it('reads a file once that is newer than the clock', (t) => {
    const path = join(temporaryDirectory(t), 'a.md');
    writeFileSync(path, 'a');
    utimesSync(path, new Date(Date.now() + HOUR), new Date(Date.now() + HOUR));
    const entry = readEntry(path, { before: undefined, parse });
    assert.equal(readEntry(path, { before: entry, parse: assert.fail }), entry);
  });

  it('reads a file again whose time may be one of two seconds', (t) => {
    const path = join(temporaryDirectory(t), 'a.md');
    writeFileSync(path, 'a');
    const second = Math.floor(Date.now() / 1000) - 1;
    utimesSync(path, second, second);
    assert.equal(readEntry(path, { before: undefined, parse })?.signature, '');
    utimesSync(path, second - 2, second - 2);
    assert.notEqual(readEntry(path, { before: undefined, parse })?.signature, '');
  });

  it('reads a file again that could not be read for a reason that has passed', (t) => {
    const path = join(temporaryDirectory(t), 'a.md');
    writeFileSync(path, 'a');
    utimesSync(path, 1, 1);
    const failed = withoutFiles(() => readEntry(path, { before: undefined, parse }));
    assert.match(failed?.problem?.message ?? '', /EMFILE/);
    const { value, problem } = readEntry(path, { before: failed, parse }) ?? {};
    assert.deepEqual([value, problem], ['a', undefined]);
  });
});

describe('the session lock', () => {
  it('is held by no clock and by no branch', async (t) => {
    const { running, item, dir } = await withCase(t);
    const { service, workspace } = running;
    const git = gitIn(workspace);
    git('init', '--quiet', '--initial-branch=main');
    writeFileSync(join(workspace, '.gitignore'), '.dossier/\n*.lock/\nsessions/lock.md\n');
    git('add', '--all');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--message', 'one');
    git('checkout', '--quiet', '--orphan', 'empty');
    git('rm', '--quiet', '-r', '--force', 'cases');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--message', 'two');
    git('checkout', '--quiet', 'main');
    assert.equal(await acquireLock(service.store, item.id, HOLDER), true);
    const file = join(dir, 'sessions/lock.md');
    const text = readFileSync(file, 'utf8');
    for (const by of [-HOUR, HOUR, 1000 * HOUR]) {
      setClock(t, by);
      assert.equal(readLock(service.store, item.id)?.locked, true);
      assert.equal(await acquireLock(service.store, item.id, HOLDER), false);
    }
    git('checkout', '--quiet', 'empty');
    assert.equal(readFileSync(file, 'utf8'), text);
    git('checkout', '--quiet', 'main');
    assert.equal(await acquireLock(service.store, item.id, HOLDER), false);
    assert.equal(await releaseLock(service.store, item.id, () => true), true);
    assert.ok(!existsSync(file));
  });
});

describe('folder.lock', { concurrency: true }, () => {
  const held = async (t: TestContext) => {
    const { running, item, dir } = await withCase(t);
    const lock = join(dir, 'sessions/folder.lock');
    mkdirSync(lock, { recursive: true });
    const acquire = () => acquireLock(running.service.store, item.id, HOLDER);
    return { lock, acquire };
  };

  for (const [name, time] of [
    ['that a killed process left', 0],
    ['from before the clock was set back', Date.now() + HOUR],
  ] as const)
    it(`is taken over ${name}`, async (t) => {
      const { lock, acquire } = await held(t);
      if (time > 0) utimesSync(lock, new Date(time), new Date(time));
      assert.equal(await acquire(), true);
      assert.ok(!existsSync(lock));
    });

  it('is told with its path when something is in it, and works once that is removed', async (t) => {
    const { lock, acquire } = await held(t);
    writeFileSync(join(lock, '.DS_Store'), '');
    const path = /cases\/.*\/sessions\/folder\.lock.*\.DS_Store/;
    await assert.rejects(acquire, { code: 'file_busy', message: path });
    rmSync(lock, { recursive: true });
    writeFileSync(lock, '');
    await assert.rejects(acquire, { code: 'file_busy', message: /folder\.lock/ });
    rmSync(lock);
    assert.equal(await acquire(), true);
  });

  it('is told as busy while another process holds it', async (t) => {
    const { lock, acquire } = await held(t);
    const alive = setInterval(() => utimesSync(lock, new Date(), new Date()), 100);
    atEnd(t, () => clearInterval(alive));
    await assert.rejects(acquire, { code: 'file_busy', message: /folder\.lock/ });
    clearInterval(alive);
    rmdirSync(lock);
  });
});

// ext4 keeps no such times; tmpfs, btrfs and XFS do.
const MEMORY = '/dev/shm';

describe('a file of a time that no date has', { skip: !existsSync(MEMORY) && 'no tmpfs' }, () => {
  for (const [time, told] of [
    [99_999_999_999_999, '9999-12-31T23:59:59.999Z'],
    [new Date(-99_999_999_999_000), '0000-01-01T00:00:00.000Z'],
  ] as const)
    it(`is listed with the nearest one: ${told.slice(0, 4)}`, async (t) => {
      const workspace = mkdtempSync(join(MEMORY, 'dossier-'));
      atEnd(t, () => rmSync(workspace, { recursive: true, force: true }));
      const { call, at, dir } = await withCase(t, {}, { workspace });
      utimesSync(join(dir, 'case.md'), time, time);
      assert.equal((await call<Case>('GET', at)).body.updated_at, told);
      assert.equal((await call<Case[]>('GET', '/cases')).body[0]?.updated_at, told);
      assert.equal((await call('GET', '/attention')).status, 200);
      assert.equal((await call('GET', '/api/export')).status, 200);
    });
});

describe('a time in a record that no clock here shows', () => {
  for (const time of [
    '2016-12-31T23:59:60Z',
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+01:00',
  ])
    it(`is a problem of its file, and stops no list: ${time}`, async (t) => {
      const { running, item, at, call, worked } = await withSession(t);
      await worked();
      const file = join(newestSession(running, item), 'session.md');
      const text = readFileSync(file, 'utf8').replace(/^ended_at: .*$/m, `ended_at: ${time}`);
      writeFileSync(file, text);
      assert.equal((await call('PUT', `${at}/state`, { state: 'NON_ISSUE' })).status, 200);
      const cleanup = await call('POST', '/api/worktrees/cleanup', { dry_run: true, closed: true });
      assert.equal(cleanup.status, 200, cleanup.text);
      const { text: problems } = await call('GET', '/api/diagnostics');
      assert.ok(
        problems.includes(`ended_at: must be a time such as 2026-11-21T07:03:46Z, not ${time}`),
      );
    });
});

describe('a time of another zone', () => {
  it('is in the order of all times', async (t) => {
    const running = await startForTest(t);
    const made = [
      ['first', '2026-12-01T09:00:00+09:00'],
      ['second', '2026-11-30T18:00:00-08:00'],
      ['third', '2026-12-01T02:59:59.999Z'],
      ['fourth', '2026-12-01T03:00:00z'],
      ['fifth', '2026-12-01T03:00:00.001Z'],
    ] as const;
    const proof = (name: string, at: string) => `---\ntype: log\ncreated_at: ${at}\n---\n${name}\n`;
    for (const [name, at] of made) {
      const dir = join(running.workspace, 'cases', name);
      mkdirSync(join(dir, 'proof'), { recursive: true });
      writeFileSync(join(dir, 'case.md'), `---\ntitle: ${name}\ncreated_at: ${at}\n---\n`);
      for (const [each, when] of made)
        writeFileSync(join(dir, `proof/${each}.md`), proof(each, when));
    }
    await sweepWorkspace(running.service.store);
    const { body } = await running.call<Case[]>('GET', '/cases');
    const names = made.map(([name]) => name);
    assert.deepEqual(
      body.map(({ title }) => title),
      names,
    );
    const proofs = await running.call<Proof[]>('GET', `/cases/${body[0]?.id}/proof`);
    assert.deepEqual(
      proofs.body.map(({ content }) => content.trim()),
      names,
    );
  });

  it('moves a Work item in the list when it is edited', async (t) => {
    const { call, workspace, service } = await startForTest(t);
    const titles = async () => (await call<Case[]>('GET', '/cases')).body.map(({ title }) => title);
    const first = await call<Case>('POST', '/cases', { title: 'First', type: 'task' });
    const second = await call<Case>('POST', '/cases', { title: 'Second', type: 'task' });
    assert.deepEqual(await titles(), ['First', 'Second']);
    await call('POST', '/cases', { title: 'Third', type: 'task' });
    assert.deepEqual(await titles(), ['First', 'Second', 'Third']);
    const edit = async ({ path }: Case, at: string) => {
      const file = join(workspace, path, 'case.md');
      const text = readFileSync(file, 'utf8').replace(/^created_at: .*$/m, `created_at: ${at}`);
      writeFileSync(file, text);
      await sweepWorkspace(service.store);
    };
    await edit(second.body, '2020-01-01T00:00:00+14:00');
    assert.deepEqual(await titles(), ['Second', 'First', 'Third']);
    await edit(first.body, '2019-12-31T09:59:59Z');
    assert.deepEqual(await titles(), ['First', 'Second', 'Third']);
  });

  for (const [name, by, kinds] of [
    ['tells of a verification after the work', 1, []],
    ['and before it', -1, ['done']],
  ] as const)
    it(name, async (t) => {
      const { item, at, call, worked, running } = await withSession(t);
      const { ended_at } = await worked();
      const more = { type: 'review', description: 'Somebody read it', required: true };
      await call('POST', `${at}/proof/checklist`, more);
      // As a clock eight hours behind UTC shows it.
      const there = Date.parse(`${ended_at}`) + by * 60_000 - 8 * HOUR * by;
      const zone = by > 0 ? '-08:00' : '+08:00';
      const verified_at = `${new Date(there).toISOString().slice(0, 19)}${zone}`;
      const file = join(running.workspace, item.path, 'proof/log.md');
      writeFileSync(
        file,
        `---\ntype: log\nverified: true\nverified_at: ${verified_at}\n---\nit ran\n`,
      );
      await sweepWorkspace(running.service.store);
      const { body } = await call<AttentionItem[]>('GET', '/attention');
      assert.deepEqual(
        body.map(({ kind }) => kind),
        kinds,
      );
    });
});
