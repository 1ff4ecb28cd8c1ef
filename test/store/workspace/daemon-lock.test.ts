import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Layout } from '../../../store/layout.ts';
import {
  type DaemonLock,
  holderOf,
  LOCK_PACE,
  lockWorkspace,
} from '../../../store/workspace/daemon-lock.ts';
import { atEnd } from '../../helpers/at-end.ts';
import {
  deadLock,
  IGNORE,
  MODULES,
  otherLock as other,
  ownerOf,
  place,
} from '../../helpers/daemon-lock.ts';

const lock = async (t: TestContext, layout: Layout): Promise<DaemonLock> => {
  const held = await lockWorkspace(layout, IGNORE);
  atEnd(t, () => held.release());
  return held;
};

/** Ends at a step of its lock's directory: killed as that is just made or about to be removed, or when it cannot be removed. */
const dieAt = async ({ root }: Layout, step: 'made' | 'removed' | 'kept'): Promise<void> => {
  const script = `
import fs from 'node:fs';
const die = (path) => String(path).endsWith('.lock') && process.kill(process.pid, 'SIGKILL');
const { mkdir, rmdir } = fs;
const [path, step] = process.argv.slice(1);
if (step === 'made') fs.mkdir = (dir, done) => mkdir(dir, (error) => (die(dir), done(error)));
else if (step === 'kept') fs.rmdir = (dir, done) => done(new Error('ENOMEM'));
else fs.rmdir = (dir, done) => (die(dir), rmdir(dir, done));
const [{ lockWorkspace }, { layoutOf }] = await Promise.all(${JSON.stringify(MODULES)}.map((url) => import(url)));
const ignore = () => undefined;
await (await lockWorkspace(layoutOf(path), { lost: ignore, regained: ignore })).release();
`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, root, step], {
    stdio: 'inherit',
  });
  const [, signal] = await once(child, 'exit');
  assert.equal(signal, step === 'kept' ? null : 'SIGKILL');
};

const HELD = (pid: number | undefined) =>
  new RegExp(`held by process ${pid} on ${hostname()}, since \\d{4}-`);

describe('a copy of a workspace', () => {
  it('is held by nobody while the original is, and a workspace that was moved still is', async (t) => {
    const original = place(t);
    await lock(t, original);
    const copy = place(t);
    rmSync(copy.root, { recursive: true });
    cpSync(original.root, copy.root, { recursive: true });
    assert.equal(holderOf(copy), undefined);
    assert.equal(holderOf(original)?.pid, process.pid);
    const held = await lock(t, copy);
    assert.equal(holderOf(copy)?.root, realpathSync(copy.root));
    await held.release();

    const moved = place(t);
    rmSync(moved.root, { recursive: true });
    renameSync(original.root, moved.root);
    assert.equal(holderOf(moved)?.pid, process.pid);
    await assert.rejects(lockWorkspace(moved, IGNORE), HELD(process.pid));
    renameSync(moved.root, original.root);
  });
});

describe('lockWorkspace', () => {
  it('says who holds the workspace, and where that listens', async (t) => {
    const layout = place(t);
    const held = await lock(t, layout);
    const { pid, host, token } = ownerOf(layout);
    assert.deepEqual([pid, host], [process.pid, hostname()]);
    held.tell({ url: 'http://127.0.0.1:4870' });
    assert.deepEqual(
      [ownerOf(layout).token, ownerOf(layout).url],
      [token, 'http://127.0.0.1:4870'],
    );
    const second = await other(t, layout);
    second.go();
    const said = await second.said;
    assert.match(said, HELD(process.pid));
    assert.match(said, /^WorkspaceHeldError: .*listening on http:\/\/127\.0\.0\.1:4870\./);
    assert.equal(ownerOf(layout).token, token);
  });

  it('refuses a second one in the same process too', async (t) => {
    const layout = place(t);
    await lock(t, layout);
    await assert.rejects(lockWorkspace(layout, IGNORE), {
      name: 'WorkspaceHeldError',
      message: HELD(process.pid),
    });
  });

  it('is free again after release', async (t) => {
    const layout = place(t);
    await (await lockWorkspace(layout, IGNORE)).release();
    assert.ok(!existsSync(layout.owner) && !existsSync(`${layout.lock}.lock`));
    await lock(t, layout);
  });

  it('does not take away the lock of another with its own release', async (t) => {
    const layout = place(t);
    const held = await lock(t, layout);
    const theirs = { ...ownerOf(layout), token: 'theirs' };
    writeFileSync(layout.owner, JSON.stringify(theirs));
    await held.release();
    assert.equal(ownerOf(layout).token, 'theirs');
  });

  it('takes over at once from a process that was killed', async (t) => {
    const layout = place(t);
    const dead = await deadLock(t, layout);
    await lock(t, layout);
    assert.notEqual(ownerOf(layout).token, dead.token);
    assert.equal(ownerOf(layout).pid, process.pid);
  });

  for (const [step, how] of [
    ['made', 'that was killed as its lock was made'],
    ['removed', 'that was killed as its lock was removed'],
    ['kept', 'that ended and could not remove its lock'],
  ] as const)
    it(`takes over at once from a process ${how}`, async (t) => {
      const layout = place(t);
      await dieAt(layout, step);
      assert.ok(existsSync(`${layout.lock}.lock`));
      await lock(t, layout);
      assert.equal(ownerOf(layout).pid, process.pid);
    });

  it('takes over from a process that was killed before it made its lock', async (t) => {
    const layout = place(t);
    await deadLock(t, layout);
    rmdirSync(`${layout.lock}.lock`);
    await lock(t, layout);
    assert.equal(ownerOf(layout).pid, process.pid);
  });

  it('clears away what dead processes left on their way to it, and nothing of a living one', async (t) => {
    const layout = place(t);
    const dead = await deadLock(t, layout);
    const alive = { ...dead, pid: process.ppid, started: '' };
    const left = (name: string): string =>
      join(layout.dossier, `daemon.${name.repeat(8)}-0000-4000-8000-000000000000`);
    writeFileSync(left('d'), JSON.stringify(dead));
    writeFileSync(left('a'), JSON.stringify(alive));
    for (const name of ['1', '2']) writeFileSync(left(name), '{"token');
    utimesSync(left('1'), new Date(), new Date(Date.now() - 120_000));
    await lock(t, layout);
    const names = readdirSync(layout.dossier).filter((name) => /^daemon\.(?!lock)/.test(name));
    assert.deepEqual(
      names.map((name) => join(layout.dossier, name)).toSorted(),
      [left('2'), left('a')].toSorted(),
    );
  });

  it('takes over from a process id that another process has now', async (t) => {
    const layout = place(t);
    const owner = { ...(await deadLock(t, layout)), pid: process.pid, started: '1' };
    writeFileSync(layout.owner, JSON.stringify(owner));
    await lock(t, layout);
  });

  for (const [name, age_s] of [
    ['a moment', 0],
    ['a minute', 60],
  ] as const)
    it(`lets one of eight at once win, ${name} after the owner died`, async (t) => {
      const layout = place(t);
      await deadLock(t, layout);
      const then = Date.now() / 1000 - age_s;
      utimesSync(`${layout.lock}.lock`, then, then);
      const all = await Promise.all(Array.from({ length: 8 }, () => other(t, layout)));
      for (const { go } of all) go();
      const said = await Promise.all(all.map((each) => each.said));
      assert.equal(said.filter((each) => each === 'won').length, 1, said.join('\n'));
      const winner = all[said.indexOf('won')]?.process.pid;
      assert.equal(ownerOf(layout).pid, winner);
      for (const each of said) assert.match(each, /^(won|WorkspaceHeldError: .* is held by .*)$/);
    });

  it('leaves the lock of another machine to its heartbeat', async (t) => {
    const layout = place(t);
    const dead = await deadLock(t, layout);
    const foreign = JSON.stringify({ ...dead, host: 'another-machine', boot: 'another' });
    writeFileSync(layout.owner, foreign);
    const now = Date.now() / 1000;
    utimesSync(`${layout.lock}.lock`, now, now);
    await assert.rejects(lockWorkspace(layout, IGNORE), {
      name: 'WorkspaceHeldError',
      message: /held by process \d+ on another-machine, since/,
    });
    assert.equal(readFileSync(layout.owner, 'utf8'), foreign);
    assert.ok(existsSync(`${layout.lock}.lock`));
    utimesSync(`${layout.lock}.lock`, now - 60, now - 60);
    await lock(t, layout);
    assert.equal(ownerOf(layout).pid, process.pid);
  });

  for (const host of ['another-machine', hostname()])
    it(`takes over from before the clock was set back, if nothing beats: ${host}`, async (t) => {
      const layout = place(t);
      const dead = await deadLock(t, layout);
      writeFileSync(layout.owner, JSON.stringify({ ...dead, host, boot: 'another' }));
      const dir = `${layout.lock}.lock`;
      const later = Date.now() / 1000 + 40 * 86_400;
      utimesSync(dir, later, later);
      const pace = { ...LOCK_PACE, listen_ms: 200, look_ms: 10 };
      let beats = 0;
      const heart = setInterval(() => utimesSync(dir, later, later + ++beats), 50);
      atEnd(t, () => clearInterval(heart));
      const held = /held by process \d+ on /;
      await assert.rejects(lockWorkspace(layout, IGNORE, pace), { message: held });
      clearInterval(heart);
      const mine = await lockWorkspace(layout, IGNORE, pace);
      atEnd(t, () => mine.release());
      assert.equal(ownerOf(layout).pid, process.pid);
    });

  it('goes on where the owner file is torn, gone or names nobody, but not past a living lock', async (t) => {
    for (const text of ['{"pid": 1', '', 'null', '{"pid": 1, "url": "http://127.0.0.1:9"}']) {
      const layout = place(t);
      writeFileSync(layout.owner, text);
      await lock(t, layout);
      writeFileSync(layout.owner, text);
      await assert.rejects(lockWorkspace(layout, IGNORE), /held by another process/);
    }
  });
});
