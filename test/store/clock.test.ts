/** Somebody sets the clock: nothing is deleted, held or freed by that. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
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
import type { LockMatter } from '../../store/records/lock.ts';
import { acquireLock, readLock, releaseLock } from '../../store/sessions/locks.ts';
import { atEnd } from '../helpers/at-end.ts';
import { until } from '../helpers/eventually.ts';
import { gitIn, temporaryDirectory } from '../helpers/repository.ts';
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
