import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { GitWorktree } from '../../lib/tools/git/run/git.ts';
import { createCase, setState } from '../../lib/work/cases/change.ts';
import { deleteCase } from '../../store/cases/cases.ts';
import type { StaleWorktree } from '../../store/records/worktree-upkeep.ts';
import { releaseLock } from '../../store/sessions/locks.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { gitIn, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { withCase } from '../helpers/sessions.ts';
import { codes, create, type Fixture, hold, start } from '../lib/code/worktrees/fixture.ts';

const DAY_MS = 86_400_000;

/** A service whose clock goes on when the test says so. */
const startAt = async (t: TestContext, settings?: string) => {
  let passed = 0;
  const clock = () => new Date(Date.now() + passed);
  const fixture = await start(t, { clock, ...(settings !== undefined && { settings }) });
  const later = (days: number): void => {
    passed += days * DAY_MS;
  };
  return { ...fixture, later };
};

const staleOf = async ({ send }: Fixture) => {
  const { status, body } = await send('GET', '/api/worktrees/stale');
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as StaleWorktree[];
};

const cleanUp = async ({ send }: Fixture, wish?: object) => {
  const { status, body } = await send('POST', '/api/worktrees/cleanup', wish);
  assert.equal(status, 200, JSON.stringify(body));
  return body as {
    dry_run: boolean;
    removed: { case_id: string }[];
    skipped: { case_id: string; code: string; reason: string }[];
  };
};

/** So many further Work items with a worktree each. */
const more = async (fixture: Fixture, count: number) => {
  const made = [];
  for (let n = 0; n < count; n += 1) {
    const item = await createCase(fixture.service, { title: `Number ${n}`, type: 'bug' });
    made.push(await create({ ...fixture, item }));
  }
  return made;
};

describe('GET /api/worktrees/stale', () => {
  it('lists those that nobody has used for longer than ttl_hours, longest first', async (t) => {
    const fixture = await startAt(t);
    const { item, later } = fixture;
    const { path, branch, created_at } = await create(fixture);
    assert.deepEqual(await staleOf(fixture), []);
    later(6.9);
    assert.deepEqual(await staleOf(fixture), []);
    const [second] = await more(fixture, 1);
    later(0.2);
    const [found, ...others] = await staleOf(fixture);
    assert.deepEqual(others, []);
    assert.ok(found !== undefined);
    const { last_used_at, idle_hours, ...told } = found;
    assert.deepEqual(told, {
      ...{ case_id: item.id, path, branch, created_at },
      attached: false,
      status: 'ok',
      removable: true,
    });
    assert.ok(idle_hours > 170 && idle_hours < 172, String(idle_hours));
    assert.ok(Date.parse(last_used_at) >= Date.parse(created_at));
    later(7);
    const ids = (await staleOf(fixture)).map(({ case_id }) => case_id);
    assert.deepEqual(ids, [item.id, second?.case_id]);
  });

  it('goes by the settings of now, down to nothing at all', async (t) => {
    const fixture = await startAt(t, 'worktrees: { ttl_hours: 0 }');
    await create(fixture);
    fixture.later(0.001);
    assert.equal((await staleOf(fixture)).length, 1);
    await fixture.send('PUT', '/api/worktrees/config', { ttl_hours: 1e9 });
    assert.deepEqual(await staleOf(fixture), []);
  });

  it('takes what is staged or committed by hand as use', async (t) => {
    const fixture = await startAt(t, 'worktrees: { ttl_hours: 1 }');
    const { path } = await create(fixture);
    fixture.later(-1);
    writeFiles(path, { 'new.txt': 'new' });
    gitIn(path)('add', 'new.txt');
    fixture.later(1.02);
    assert.deepEqual(await staleOf(fixture), []);
    fixture.later(1);
    assert.equal((await staleOf(fixture)).length, 1);
  });

  it('passes over one whose session lock is held, and one whose session has not ended', async (t) => {
    const fixture = await startAt(t);
    await create(fixture);
    await hold(fixture, 'operator');
    fixture.later(30);
    assert.deepEqual(await staleOf(fixture), []);
    await releaseLock(fixture.service.store, fixture.item.id, () => true);
    assert.equal((await staleOf(fixture)).length, 1);

    const session = await withCase(t, undefined, { settings: 'worktrees: { ttl_hours: 0 }' });
    await session.planned();
    const stale = async () => (await session.call<object[]>('GET', '/api/worktrees/stale')).body;
    rmSync(join(session.workspace, session.item.path, 'sessions', 'lock.md'));
    assert.deepEqual(await stale(), []);
    await session.control('abort');
    assert.equal((await stale()).length, 1);
  });

  it('tells what is missing, tampered with, or holds work, and why it stays', async (t) => {
    const fixture = await startAt(t);
    const [gone, forged, dirty] = await more(fixture, 3);
    rmSync(gone?.path ?? '', { recursive: true });
    writeFileSync(join(forged?.path ?? '', '.git'), 'gitdir: /elsewhere\n');
    writeFiles(dirty?.path ?? '', { 'new.txt': 'new' });
    fixture.later(30);
    const found = new Map((await staleOf(fixture)).map((each) => [each.case_id, each]));
    const told = [gone, forged, dirty].map((each) => {
      const stale = found.get(each?.case_id ?? '');
      return [stale?.status, stale?.removable, stale?.code];
    });
    assert.deepEqual(told, [
      ['missing', true, undefined],
      ['tampered', false, 'worktree_tampered'],
      ['ok', false, 'work_would_be_lost'],
    ]);
  });

  it('takes one that is removed meanwhile for no directory that was tampered with', async (t) => {
    const fixture = await startAt(t);
    await create(fixture);
    fixture.later(30);
    const { git } = fixture.service;
    const at = git.at.bind(git);
    let removal: Promise<{ status: number }> | undefined;
    // The directory is looked at, and then git is asked what would be lost with it.
    t.mock.method(git, 'at', (place: GitWorktree) => {
      const found = at(place);
      const run: typeof found.run = async (args, options) => {
        if (args[0] === 'status' && removal === undefined) {
          removal = fixture.send('DELETE', `/api/cases/${fixture.item.id}/worktree`);
          await removal;
        }
        return found.run(args, options);
      };
      return { ...found, run };
    });
    assert.deepEqual(await staleOf(fixture), []);
    assert.equal((await removal)?.status, 204);
  });
});

describe('POST /api/worktrees/cleanup', () => {
  it('removes what its dry run said, and what it skips it names with the reason', async (t) => {
    const fixture = await startAt(t);
    const worktree = await create(fixture);
    const [dirty, clean] = await more(fixture, 2);
    writeFiles(dirty?.path ?? '', { 'new.txt': 'new' });
    fixture.later(30);
    const dry = await cleanUp(fixture, { dry_run: true });
    assert.ok([worktree, dirty, clean].every((each) => existsSync(each?.path ?? '')));
    assert.equal(dry.dry_run, true);
    assert.deepEqual(
      dry.removed.map(({ case_id }) => case_id).toSorted(),
      [worktree.case_id, clean?.case_id].toSorted(),
    );
    assert.deepEqual(
      dry.skipped.map(({ case_id, code }) => [case_id, code]),
      [[dirty?.case_id, 'work_would_be_lost']],
    );
    assert.match(dry.skipped[0]?.reason ?? '', /1 uncommitted file/);
    assert.deepEqual(await cleanUp(fixture), { ...dry, dry_run: false });
    assert.deepEqual(
      [worktree, dirty, clean].map((each) => existsSync(each?.path ?? '')),
      [false, true, false],
    );
    assert.match(fixture.repository.git('branch', '--list', worktree.branch), /work\//);
    assert.deepEqual((await cleanUp(fixture)).removed, []);
  });

  it('takes those of closed Work items at once with closed, and not one with work in it', async (t) => {
    const fixture = await startAt(t);
    const open = await create(fixture);
    const [done, dirty] = await more(fixture, 2);
    writeFiles(dirty?.path ?? '', { 'new.txt': 'new' });
    for (const each of [done, dirty])
      await setState(fixture.service.store, each?.case_id ?? '', { state: 'NON_ISSUE' });
    assert.deepEqual((await cleanUp(fixture)).removed, []);
    const { removed, skipped } = await cleanUp(fixture, { closed: true });
    assert.deepEqual(
      [removed.map(({ case_id }) => case_id), skipped.map(({ case_id, code }) => [case_id, code])],
      [[done?.case_id], [[dirty?.case_id, 'work_would_be_lost']]],
    );
    assert.deepEqual(
      [open, done, dirty].map((each) => existsSync(each?.path ?? '')),
      [true, false, true],
    );
  });

  it('keeps to the Work items that are named', async (t) => {
    const fixture = await startAt(t);
    const [one, other] = await more(fixture, 2);
    fixture.later(30);
    const wish = { case_ids: [one?.case_id, NOBODY] };
    const { removed, skipped } = await cleanUp(fixture, wish);
    assert.deepEqual([removed[0]?.case_id, removed.length], [one?.case_id, 1]);
    assert.deepEqual(
      skipped.map(({ case_id, code }) => [case_id, code]),
      [[NOBODY, 'not_stale']],
    );
    assert.ok(existsSync(other?.path ?? ''));
    const wrong = await fixture.send('POST', '/api/worktrees/cleanup', { case_ids: ['x'] });
    const forced = await fixture.send('POST', '/api/worktrees/cleanup', { force: true });
    assert.deepEqual(codes(wrong, forced), Array(2).fill([400, 'bad_request']));
  });

  it('leaves an attached directory, a live process, and a record that cannot be read', async (t) => {
    const fixture = await startAt(t);
    const { item, later, repository, send, workspace } = fixture;
    const mine = join(temporaryDirectory(t), 'mine');
    repository.git('worktree', 'add', '--quiet', mine);
    await send('POST', `/api/worktrees/${item.id}/attach`, { path: mine });
    const [lived, broken] = await more(fixture, 2);
    const below = join(lived?.path ?? '', 'below');
    mkdirSync(below);
    const env = { PATH: process.env.PATH, DOSSIER_RUN: 'a-former-one' };
    const agent = spawn('sleep', ['300'], { cwd: below, env });
    t.after(() => agent.kill());
    await once(agent, 'spawn');
    writeFileSync(join(workspace, '.dossier/worktrees', `${broken?.case_id}.json`), '{');
    later(30);
    const { removed, skipped } = await cleanUp(fixture);
    const why = new Map(skipped.map(({ case_id, code, reason }) => [case_id, { code, reason }]));
    assert.deepEqual(removed, []);
    assert.equal(why.get(item.id)?.code, 'attached');
    assert.equal(why.get(broken?.case_id ?? '')?.code, 'unreadable_record');
    const alive = why.get(lived?.case_id ?? '');
    if (existsSync('/proc/self/environ')) {
      assert.equal(alive?.code, 'worktree_busy');
      assert.match(alive?.reason ?? '', new RegExp(`${agent.pid} \\(sleep\\)`));
      const url = `/api/cases/${lived?.case_id}/worktree?force=true`;
      assert.deepEqual(codes(await send('DELETE', url)), [[409, 'worktree_busy']]);
      const gone = once(agent, 'exit');
      agent.kill();
      await gone;
    }
    assert.deepEqual(
      (await cleanUp(fixture)).removed.map(({ case_id }) => case_id),
      [lived?.case_id],
    );
    assert.ok(existsSync(join(mine, 'README.md')));
  });

  it('lets go of what is missing, and of what a Work item that is gone left behind', async (t) => {
    const fixture = await startAt(t);
    const [gone, orphan] = await more(fixture, 2);
    rmSync(gone?.path ?? '', { recursive: true });
    await deleteCase(fixture.service.store, orphan?.case_id ?? '');
    fixture.later(30);
    assert.equal((await cleanUp(fixture)).removed.length, 2);
    assert.ok(!existsSync(orphan?.path ?? ''));
    assert.equal(fixture.repository.git('worktree', 'list').trim().split('\n').length, 1);
  });

  it('deletes nothing through a link in the place of a worktree', async (t) => {
    const fixture = await startAt(t);
    const { path } = await create(fixture);
    rmSync(path, { recursive: true });
    symlinkSync(fixture.repository.root, path);
    fixture.later(30);
    const { skipped } = await cleanUp(fixture);
    assert.equal(skipped[0]?.code, 'worktree_tampered');
    assert.ok(existsSync(join(fixture.repository.root, 'README.md')));
  });

  it('removes each once when two are asked for at the same time', async (t) => {
    const fixture = await startAt(t);
    await more(fixture, 3);
    fixture.later(30);
    const lists = Promise.all([1, 2].map(() => staleOf(fixture)));
    const answers = await Promise.all([1, 2].map(() => cleanUp(fixture)));
    const removed = answers.flatMap((each) => each.removed.map(({ case_id }) => case_id));
    assert.deepEqual([removed.length, new Set(removed).size], [3, 3]);
    // What is half removed is not taken for a directory that somebody has tampered with.
    const told = [...(await lists).flat(), ...answers.flatMap(({ skipped }) => skipped)];
    assert.deepEqual(
      told.filter(({ code = 'not_found' }) => code !== 'not_found'),
      [],
    );
  });
});
