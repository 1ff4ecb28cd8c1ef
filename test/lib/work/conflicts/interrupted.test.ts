import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  type ConflictChange,
  changeConflict,
  openConflict,
} from '../../../../store/sessions/conflicts.ts';
import { acquireLock } from '../../../../store/sessions/locks.ts';
import { type Daemon, startDaemon } from '../../../helpers/daemon.ts';
import { eventually } from '../../../helpers/eventually.ts';
import {
  gitIn,
  makeRepository,
  temporaryDirectory,
  writeFiles,
} from '../../../helpers/repository.ts';
import { commit, rebaseScene, recordOf, type Scene } from './fixture.ts';

const WANTED = {
  start: { 'a.txt': 'one\n', 'b.txt': 'one\n' },
  base: [{ 'a.txt': 'base\n' }],
  branch: [{ 'a.txt': 'branch\n' }, { 'c.txt': 'c\n' }],
};

const GIT = ['-c', 'user.name=A', '-c', 'user.email=a@b', '-c', 'core.editor=true'];

/** Writes into the record what a daemon leaves that is killed in this step, holding the lock, and starts the next. */
const dieIn = async (scene: Scene, step: NonNullable<ConflictChange['step']>): Promise<void> => {
  const { running, item } = scene;
  const { store } = running.service;
  const open = openConflict(store, item.id);
  assert.ok(open && (await changeConflict(store, open, { step })));
  const acquired_at = new Date().toISOString();
  const lock = { kind: 'operator' as const, operation: 'rebase', acquired_at };
  assert.ok(await acquireLock(store, item.id, lock));
  await running.restart();
  const held = `/api/worktrees/${item.id}/lock`;
  assert.equal((await running.call<{ locked: boolean }>('GET', held)).body.locked, false);
};

const told = async (scene: Scene) => {
  const [first] = await scene.history();
  return [first?.outcome, first?.step, await scene.state()];
};

describe('a daemon that was killed', () => {
  it('before anything was changed: the next one says so, and is done with it', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    await scene.post('pr/rebase');
    scene.git('rebase', '--abort');
    await dieIn(scene, 'rebasing');
    assert.deepEqual(await told(scene), ['interrupted', null, 'OPEN']);
    assert.match(recordOf(scene), /stopped during this step before anything was changed/);
    assert.equal((await scene.post('pr/rebase')).body.status, 'conflicted');
  });

  it('while git stopped at a conflict: it is a conflict as any other', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    await scene.post('pr/rebase');
    await scene.running.call('PUT', `/cases/${scene.item.id}/state`, { state: 'OPEN' });
    // Resolved already: it is still known how git left it.
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n' });
    await dieIn(scene, 'rebasing');
    assert.deepEqual(await told(scene), [null, 'conflicted', 'BLOCKED']);
    assert.equal((await scene.post('conflicts/apply')).body.status, 'clean');
    assert.deepEqual(await told(scene), ['resolved', null, 'OPEN']);
  });

  it('while git ended the rebase: the next one takes note of it', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    await scene.post('pr/rebase');
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n' });
    scene.git('add', 'a.txt');
    scene.git(...GIT, 'rebase', '--continue');
    await dieIn(scene, 'applying');
    assert.deepEqual(await told(scene), ['resolved', null, 'OPEN']);
    assert.match(recordOf(scene), /stopped during this step, and git ended the rebase/);
  });

  it('between staging and going on: apply is sent again', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    await scene.post('pr/rebase');
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n' });
    scene.git('add', 'a.txt');
    await dieIn(scene, 'applying');
    assert.deepEqual(await told(scene), [null, 'interrupted', 'BLOCKED']);
    assert.match(recordOf(scene), /everything is staged and not committed yet/);
    assert.equal((await scene.post('conflicts/apply')).body.status, 'clean');
    assert.equal(scene.git('log', '--format=%s', 'main..'), 'change c.txt\nchange a.txt\n');
  });

  it('in the middle of a commit: nothing is guessed, and an abort brings all back', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    const original = scene.git('rev-parse', 'HEAD');
    await scene.post('pr/rebase');
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n' });
    scene.git('add', 'a.txt');
    scene.git(...GIT, 'commit', '-qm', 'one of two');
    await dieIn(scene, 'applying');
    assert.deepEqual(await told(scene), [null, 'interrupted', 'BLOCKED']);
    const applied = await scene.post('conflicts/apply');
    assert.deepEqual([applied.status, applied.body.code], [422, 'invalid_state']);
    assert.match(applied.body.detail, /conflicts\/abort/);
    await dieIn(scene, 'aborting');
    assert.match(recordOf(scene), /Send …\/conflicts\/abort again/);
    assert.equal((await scene.post('conflicts/abort')).status, 200);
    assert.equal(scene.git('rev-parse', 'HEAD'), original);
    assert.deepEqual(await told(scene), ['aborted', null, 'OPEN']);
  });

  it('leaves what was set aside for an abort to bring back', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    writeFiles(scene.worktree.path, { 'b.txt': 'mine\n' });
    await scene.post('pr/rebase', { keep_changes: true });
    scene.git('rebase', '--abort');
    await dieIn(scene, 'rebasing');
    assert.deepEqual(await told(scene), [null, 'interrupted', 'BLOCKED']);
    assert.equal((await scene.post('conflicts/abort')).status, 200);
    assert.equal(scene.git('status', '--porcelain'), ' M b.txt\n');
  });
});

interface Killed {
  workspace: string;
  repository: string;
  case_id: string;
  path: string;
}

const ask = async <T>({ url }: Daemon, method: string, path: string, body?: object): Promise<T> => {
  const answer = await fetch(url + path, {
    method,
    // The daemon closes an idle connection while git holds this process: the next request would be sent into it.
    headers: { connection: 'close', ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as T;
};

// Many commits, so that git takes its time.
const prepare = async (t: TestContext): Promise<Killed & { daemon: Daemon }> => {
  const workspace = temporaryDirectory(t);
  const { root: repository, git } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
  const daemon = await startDaemon(t, ['--workspace', workspace, '--repo', repository]);
  const item = await ask<{ id: string }>(daemon, 'POST', '/cases', { title: 'K', type: 'bug' });
  const made = { case_id: item.id };
  const { path } = await ask<{ path: string }>(daemon, 'POST', '/api/worktrees', made);
  commit(git, repository, { 'base.txt': 'base\n' });
  for (let n = 0; n < 30; n += 1) commit(gitIn(path), path, { [`f${n}.txt`]: 'x\n' });
  return { workspace, repository, case_id: item.id, path, daemon };
};

describe('kill -9 of the daemon while git rebases', () => {
  it('leaves what the next life tells, and an abort or the end gives a whole branch', async (t) => {
    const { workspace, repository, case_id, path, daemon } = await prepare(t);
    const git = gitIn(path);
    const original = git('rev-parse', 'HEAD').trim();
    const at = `/api/cases/${case_id}`;
    let answered = false;
    const answer = ask(daemon, 'POST', `${at}/pr/rebase`).finally(() => {
      answered = true;
    });
    const gone = answer.catch(() => undefined);
    const state = git('rev-parse', '--git-path', 'rebase-merge').trim();
    await eventually(() => assert.ok(existsSync(state) || answered));
    await daemon.end('SIGKILL');
    await gone;
    const next = await startDaemon(t, ['--workspace', workspace, '--repo', repository]);
    const [told] = await ask<{ outcome: string; step: string; log: string }[]>(
      next,
      'GET',
      `${at}/conflicts/history`,
    );
    // It may have been killed after it had told the end, and before it answered.
    const isWhole = told?.outcome === 'clean';
    if (!isWhole) assert.match(told?.log ?? '', /the daemon stopped during this step/);
    if (!isWhole) await ask(next, 'POST', `${at}/conflicts/abort`);
    const head = git('rev-parse', 'HEAD').trim();
    assert.equal(head === original, !isWhole, JSON.stringify(told));
    assert.equal(
      git('rev-list', '--count', `${git('merge-base', 'HEAD', 'main').trim()}..`),
      '30\n',
    );
    assert.equal(git('status', '--porcelain'), '');
    const lock = join(workspace, 'cases');
    assert.ok(
      !readdirSync(lock, { recursive: true }).some((name) => `${name}`.endsWith('lock.md')),
    );
    await next.end('SIGTERM');
  });
});
