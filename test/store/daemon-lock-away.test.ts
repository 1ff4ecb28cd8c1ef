import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Layout, layoutOf } from '../../store/layout.ts';
import { type DaemonLock, LOCK_PACE, lockWorkspace } from '../../store/workspace/daemon-lock.ts';
import { describeSelf, type Owner } from '../../store/workspace/owner.ts';
import { atEnd } from '../helpers/at-end.ts';
import { deadLock, IGNORE, otherLock, ownerOf, place } from '../helpers/daemon-lock.ts';
import { until } from '../helpers/eventually.ts';
import { type Running, startForTest, startOn } from '../helpers/service.ts';

const QUICK = { ...LOCK_PACE, stale_ms: 2000, update_ms: 1000, listen_ms: 300, look_ms: 20 };
const INNER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

const lock = async (t: TestContext, layout: Layout): Promise<DaemonLock> => {
  const held = await lockWorkspace(layout, IGNORE, QUICK);
  atEnd(t, () => held.release());
  return held;
};

/** Where no process namespaces can be made: why not. */
const namespaces = (t: TestContext): boolean => {
  try {
    execFileSync('unshare', [...INNER.slice(1), 'true'], { stdio: 'pipe' });
    return true;
  } catch (error) {
    assert.notEqual(process.env.CI, 'true', String(error));
    t.skip(`no process namespace can be made here: ${error}`);
    return false;
  }
};

/** A lock whose owner cannot be seen from here. */
const unseen = (layout: Layout, owner: Partial<Owner>, age_s: number): void => {
  writeFileSync(
    layout.owner,
    JSON.stringify({ ...describeSelf(layout.root), token: randomUUID(), ...owner }),
  );
  mkdirSync(`${layout.lock}.lock`);
  beat(layout, age_s);
};

const beat = ({ lock: path }: Layout, age_s: number): void => {
  const then = Date.now() / 1000 - age_s;
  utimesSync(`${path}.lock`, then, then);
};

const HELD = { name: 'WorkspaceHeldError', message: /held by process \d+ on .* cannot be seen/ };

describe('the lock of a daemon that cannot be seen from here', () => {
  for (const [what, owner] of [
    ['in another process namespace', { namespace: 'pid:[1]' }],
    ['of another boot under the same name', { boot: 'another' }],
    ['that did not say in which namespace it is', { namespace: '' }],
  ] as const) {
    it(`is left alone while its heart beats (${what})`, async (t) => {
      const layout = place(t);
      unseen(layout, owner, 0);
      const heart = setInterval(() => beat(layout, 0), 50);
      atEnd(t, () => clearInterval(heart));
      await assert.rejects(lockWorkspace(layout, IGNORE, QUICK), HELD);
    });

    it(`is taken over once its heart has stopped (${what})`, async (t) => {
      const layout = place(t);
      unseen(layout, owner, 0);
      const waited: string[] = [];
      const events = { ...IGNORE, waits: (why: string) => waited.push(why) };
      const held = await lockWorkspace(layout, events, QUICK);
      atEnd(t, () => held.release());
      assert.equal(ownerOf(layout).pid, process.pid);
      assert.match(waited.join(), /^process \d+ on .* cannot be seen from here\. Waiting/);
    });
  }

  it('is left alone when its heart begins to beat again: the machine has slept', async (t) => {
    const layout = place(t);
    unseen(layout, { namespace: 'pid:[1]' }, 3600);
    const taken = assert.rejects(lockWorkspace(layout, IGNORE, QUICK), HELD);
    beat(layout, 0);
    await taken;
  });

  it('is refused at once where it is of another machine', async (t) => {
    const layout = place(t);
    unseen(layout, { host: 'another-machine', boot: 'another' }, 0);
    await assert.rejects(lockWorkspace(layout, IGNORE, { ...QUICK, stale_ms: 3_600_000 }), HELD);
  });

  it('is won by one of eight at once', async (t) => {
    const layout = place(t);
    unseen(layout, { namespace: 'pid:[1]' }, 60);
    const all = await Promise.all(
      Array.from({ length: 8 }, () => otherLock(t, layout, { pace: QUICK })),
    );
    for (const { go } of all) go();
    const said = await Promise.all(all.map((each) => each.said));
    assert.equal(said.filter((each) => each === 'won').length, 1, said.join('\n'));
    assert.equal(ownerOf(layout).pid, all[said.indexOf('won')]?.process.pid);
  });
});

describe('two daemons in two process namespaces', () => {
  it('exclude one another, whoever was first', async (t) => {
    if (!namespaces(t)) return;
    const layout = place(t);
    const first = await lock(t, layout);
    const inner = await otherLock(t, layout, { by: INNER });
    inner.go();
    assert.match(await inner.said, new RegExp(`held by process ${process.pid} on ${hostname()}`));
    await first.release();
    const second = await otherLock(t, layout, { by: INNER, pace: QUICK });
    second.go();
    assert.equal(await second.said, 'won');
    assert.notEqual(ownerOf(layout).namespace, describeSelf(layout.root).namespace);
    await assert.rejects(lock(t, layout), { name: 'WorkspaceHeldError' });
  });

  it('exclude one another while the inner one is stopped: it is seen alive', async (t) => {
    if (!namespaces(t)) return;
    const layout = place(t);
    const inner = await otherLock(t, layout, { by: INNER });
    inner.go();
    assert.equal(await inner.said, 'won');
    beat(layout, 3600);
    const { token } = ownerOf(layout);
    await assert.rejects(lock(t, layout), { name: 'WorkspaceHeldError' });
    assert.equal(ownerOf(layout).token, token);
  });
});

describe('the lock of a workspace that was away', () => {
  const watched = async (t: TestContext) => {
    const layout = place(t);
    const said: string[] = [];
    const events = { lost: (why: string) => said.push(why), regained: () => said.push('held') };
    const held = await lockWorkspace(layout, events, QUICK);
    atEnd(t, async () => {
      await held.release();
      rmSync(`${layout.root}-away`, { recursive: true, force: true });
    });
    return { layout, said, held };
  };

  it('says again where the daemon listens, once .dossier/ was removed', async (t) => {
    const { layout, said, held } = await watched(t);
    held.tell({ url: 'http://127.0.0.1:4870' });
    rmSync(layout.dossier, { recursive: true });
    await until(() => said.includes('held'));
    assert.equal(ownerOf(layout).url, 'http://127.0.0.1:4870');
  });

  it('is written through no link that a pull put in place of .dossier/', async (t) => {
    const { layout, said } = await watched(t);
    const theirs = place(t);
    renameSync(layout.dossier, `${layout.root}-away`);
    symlinkSync(theirs.dossier, layout.dossier);
    await until(() => said.length > 0);
    assert.match(
      said[0] ?? '',
      /\.dossier must be a directory, not a link or a file\. Move it away/,
    );
    await setTimeout(10 * QUICK.look_ms);
    assert.deepEqual(readdirSync(theirs.dossier), []);
    rmSync(layout.dossier);
    await until(() => said.includes('held'));
    assert.equal(ownerOf(layout).pid, process.pid);
  });

  it('is taken back from who took it over, and was killed', async (t) => {
    const { layout, said } = await watched(t);
    renameSync(layout.root, `${layout.root}-away`);
    await until(() => said.length > 0);
    const away = layoutOf(`${layout.root}-away`);
    writeFileSync(away.owner, JSON.stringify(await deadLock(t, place(t))));
    renameSync(away.root, layout.root);
    await until(() => said.includes('held'));
    assert.equal(ownerOf(layout).pid, process.pid);
    const left = readdirSync(layout.dossier).filter((name) => name.startsWith('owner.json.'));
    assert.deepEqual(left, []);
  });

  it('is its own again by the token as soon as it is back, and says so', async (t) => {
    const { layout, said } = await watched(t);
    const { token } = ownerOf(layout);
    renameSync(layout.root, `${layout.root}-away`);
    await until(() => said.length > 0);
    assert.match(said[0] ?? '', /^The workspace directory .* does not exist\. Put it back/);
    renameSync(`${layout.root}-away`, layout.root);
    await until(() => said.includes('held'));
    assert.equal(ownerOf(layout).token, token);
    await assert.rejects(lock(t, layout), { name: 'WorkspaceHeldError' });
  });

  it('stays with who took it over meanwhile, and that is told', async (t) => {
    const { layout, said } = await watched(t);
    renameSync(layout.root, `${layout.root}-away`);
    await until(() => said.length > 0);
    rmSync(`${layout.root}-away/.dossier/owner.json`);
    // Without a time of its start, as of a system that tells none: it lives as long as there is a process 1.
    const theirs = { ...describeSelf(layout.root), pid: 1, started: '', token: 'theirs' };
    writeFileSync(`${layout.root}-away/.dossier/owner.json`, JSON.stringify(theirs));
    renameSync(`${layout.root}-away`, layout.root);
    await until(() => said.length > 1);
    assert.match(said[1] ?? '', /^process 1 on .* holds the workspace .* now\. Stop that process/);
    assert.equal(ownerOf(layout).token, 'theirs');
  });
});

describe('a daemon that does not know yet that it lost its workspace', () => {
  const journalOf = (workspace: string): string =>
    readFileSync(join(workspace, '.dossier/journal/00000001.ndjson'), 'utf8').replaceAll('\0', '');
  const create = async ({ call }: Running): Promise<string> => {
    const { status, body } = await call('POST', '/cases', { title: 'One', type: 'bug' });
    return `${status} ${body.detail ?? ''}`;
  };
  const assertRefused = async (running: Running, why: RegExp): Promise<void> => {
    const before = journalOf(running.workspace);
    assert.match(await create(running), why);
    assert.equal(journalOf(running.workspace), before, 'the journal of the other');
    assert.equal(readdirSync(join(running.workspace, 'cases'), { recursive: true }).length, 3);
  };

  it('writes nothing into another workspace that was moved to its place', async (t) => {
    const other = await startForTest(t);
    assert.match(await create(other), /^201/);
    await other.stop();
    const running = await startForTest(t);
    await create(running);
    rmSync(running.workspace, { recursive: true });
    renameSync(other.workspace, running.workspace);
    await assertRefused(running, /^503 Another workspace is at .* now\. Nothing was written/);
  });

  it('writes nothing where another daemon made .dossier/ again', async (t) => {
    const running = await startForTest(t);
    await create(running);
    rmSync(join(running.workspace, '.dossier'), { recursive: true });
    const other = await startOn(running.workspace);
    atEnd(t, () => other.stop());
    await assertRefused(running, /^503 process \d+ .* holds the workspace .* now/);
  });

  it('keeps other daemons out with its next write, where .dossier/ was removed', async (t) => {
    const running = await startForTest(t);
    rmSync(join(running.workspace, '.dossier'), { recursive: true });
    assert.match(await create(running), /^201/);
    await assert.rejects(startOn(running.workspace), { name: 'WorkspaceHeldError' });
  });
});
