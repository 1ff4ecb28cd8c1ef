import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Session } from '../../../../store/records/session.ts';
import type { Worktree } from '../../../../store/records/worktree.ts';
import {
  type ConflictChange,
  changeConflict,
  openConflict,
} from '../../../../store/sessions/conflicts.ts';
import { acquireLock } from '../../../../store/sessions/locks.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { writeFiles } from '../../../helpers/repository.ts';
import { type Answer, type Change, read, rebaseScene, type Scene } from './fixture.ts';

const WANTED = {
  start: { 'a.txt': 'one\n', 'b.txt': 'one\n', 'c.txt': 'one\n', 'gone.txt': 'one\n' },
  base: [{ 'b.txt': 'base\n', 'gone.txt': null } as Change],
  branch: [{ 'a.txt': 'branch\n' }],
};

const GIT = ['-c', 'user.name=A', '-c', 'user.email=a@b'];

/** A rebase of uncommitted changes that stopped at b.txt: c.txt fits and is staged, new.txt is untracked. */
const stopped = async (t: TestContext, wanted: Partial<typeof WANTED> = {}): Promise<Scene> => {
  const scene = await rebaseScene(t, { ...WANTED, ...wanted });
  writeFiles(scene.worktree.path, { 'b.txt': 'mine\n', 'c.txt': 'mine\n', 'new.txt': 'new\n' });
  scene.git('add', 'c.txt');
  return scene;
};

const rebase = async (scene: Scene): Promise<Answer> => {
  const { body, status, text } = await scene.post('pr/rebase', { keep_changes: true });
  assert.equal(status, 200, text);
  return body;
};

const conflicted = async (t: TestContext): Promise<Scene> => {
  const scene = await stopped(t);
  const body = await rebase(scene);
  assert.deepEqual([body.status, body.changes], ['conflicted', 'conflicted']);
  return scene;
};

const stateOf = ({ git }: Scene): string[] => [
  git('rev-parse', 'HEAD'),
  git('status', '--porcelain'),
  git('diff'),
  git('diff', '--cached'),
];

const refs = ({ git }: Scene): string =>
  git('for-each-ref', '--format=%(refname)', 'refs/dossier/set-aside', 'refs/dossier/conflicted');

const outcome = async (scene: Scene): Promise<unknown[]> => {
  const [last] = (await scene.history()).slice(-1);
  return [last?.outcome, last?.step, await scene.state()];
};

/** Writes into the record what a daemon leaves that is killed in this step, and starts the next one. */
const dieIn = async (scene: Scene, changes: ConflictChange): Promise<void> => {
  const { running, item } = scene;
  const { store } = running.service;
  const open = openConflict(store, item.id);
  assert.ok(open && (await changeConflict(store, open, changes)));
  const acquired_at = new Date().toISOString();
  assert.ok(
    await acquireLock(store, item.id, { kind: 'operator', operation: 'rebase', acquired_at }),
  );
  await running.restart();
};

describe('a rebase over uncommitted changes that conflict', () => {
  it('shows them in the preview, and apply leaves them uncommitted on the new base', async (t) => {
    const scene = await conflicted(t);
    const { git, main } = scene;
    const { body: preview } = await scene.get('conflicts/preview');
    assert.deepEqual(preview.files, [{ path: 'b.txt', kind: 'both_modified' }]);
    assert.match(preview.diff, /^\+\+<<<<<<< .*\n \+base\n\+\+=======\n\+ mine\n/m);
    const early = await scene.post('conflicts/apply');
    assert.deepEqual([early.status, early.body.code], [422, 'markers_remain']);
    const pushed = await scene.post('conflicts/push-rebased');
    assert.equal(pushed.status, 409, pushed.text);
    writeFiles(scene.worktree.path, { 'b.txt': 'both\n', 'a.txt': 'more\n' });
    const done = await scene.post('conflicts/apply');
    const head = git('rev-parse', 'HEAD').trim();
    assert.deepEqual(done.body, { status: 'clean', head, onto: 'main', changes: 'brought_back' });
    assert.equal(git('rev-parse', 'HEAD^'), main('rev-parse', 'main'));
    assert.equal(git('status', '--porcelain'), ' M a.txt\n M b.txt\nM  c.txt\n?? new.txt\n');
    assert.equal(
      read(scene, 'a.txt') + read(scene, 'b.txt') + read(scene, 'c.txt'),
      'more\nboth\nmine\n',
    );
    assert.deepEqual(await outcome(scene), ['resolved', null, 'OPEN']);
    assert.equal(refs(scene), '');
    const { body } = await scene.running.call<Worktree>(
      'GET',
      `/api/worktrees/${scene.item.id}/status`,
    );
    assert.equal(body.base_commit, main('rev-parse', 'main').trim());
  });

  it('is undone by abort, with the split of staged and unstaged changes', async (t) => {
    const scene = await stopped(t);
    const before = stateOf(scene);
    await rebase(scene);
    writeFiles(scene.worktree.path, { 'b.txt': 'half\n' });
    const { body } = await scene.post('conflicts/abort');
    assert.deepEqual([body.status, body.left], ['aborted', []]);
    assert.deepEqual(stateOf(scene), before);
    assert.equal(scene.git('show', `${body.undone_ref}:files/b.txt`), 'half\n');
    assert.deepEqual(await outcome(scene), ['aborted', null, 'OPEN']);
    assert.equal(refs(scene), '');
  });

  it('stops for commits first and then for the changes', async (t) => {
    const scene = await stopped(t, { base: [{ 'a.txt': 'base\n', 'b.txt': 'base\n' }] });
    const first = await rebase(scene);
    assert.deepEqual([first.status, first.changes], ['conflicted', undefined]);
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n' });
    const second = await scene.post('conflicts/apply');
    assert.deepEqual(
      [second.body.status, second.body.changes, second.body.files[0]?.path],
      ['conflicted', 'conflicted', 'b.txt'],
    );
    assert.deepEqual(await outcome(scene), [null, 'conflicted', 'BLOCKED']);
    assert.equal(scene.git('for-each-ref', 'refs/dossier/conflicted').split('\n').length, 2);
    writeFiles(scene.worktree.path, { 'b.txt': 'both\n' });
    assert.equal((await scene.post('conflicts/apply')).body.status, 'clean');
    assert.deepEqual(await outcome(scene), ['resolved', null, 'OPEN']);
  });

  it('handles a deletion, staged changes that conflict, and a branch without commits', async (t) => {
    const scene = await rebaseScene(t, { ...WANTED, branch: [] });
    const { git } = scene;
    writeFiles(scene.worktree.path, { 'b.txt': 'staged\n', 'gone.txt': 'mine\n' });
    git('add', 'b.txt');
    writeFiles(scene.worktree.path, { 'b.txt': 'base\n' });
    const { files, changes } = await rebase(scene);
    assert.deepEqual(
      [changes, files],
      ['conflicted', [{ path: 'gone.txt', kind: 'deleted_in_base' }]],
    );
    const refused = await scene.post('conflicts/apply');
    assert.deepEqual([refused.status, refused.body.code], [422, 'markers_remain']);
    const done = await scene.post('conflicts/apply', { resolved: ['gone.txt'] });
    assert.equal(done.body.status, 'clean', done.text);
    assert.equal(read(scene, 'b.txt') + read(scene, 'gone.txt'), 'base\nmine\n');
    assert.equal(git('status', '--porcelain'), '?? gone.txt\n');
    const [told] = await scene.history();
    assert.ok(told?.snapshot_ref, 'the staged text is in the state before');
  });

  it('takes note of changes that the operator committed', async (t) => {
    const scene = await conflicted(t);
    writeFiles(scene.worktree.path, { 'b.txt': 'both\n' });
    scene.git('add', 'b.txt');
    scene.git(...GIT, 'commit', '-qm', 'by hand');
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.status, 'clean', done.text);
    assert.equal(scene.git('status', '--porcelain'), '?? new.txt\n');
    assert.deepEqual(await outcome(scene), ['resolved', null, 'OPEN']);
  });

  it('is resolved by an agent, which stages and commits nothing', async (t) => {
    const scene = await conflicted(t);
    const { running, item } = scene;
    const sessions = `/cases/${item.id}/sessions`;
    const until = (id: string, status: string) =>
      eventually(async () => {
        const { body } = await running.call<Session>('GET', `${sessions}/${id}`);
        assert.equal(body.status, status, body.error ?? undefined);
      });
    const { body, text } = await running.call<Session>(
      'POST',
      `/api/cases/${item.id}/conflicts/resolve-with-agent`,
    );
    assert.ok(body.id, text);
    await until(body.id, 'plan_ready');
    const script = 'echo both > b.txt; git add --all 2>&1 || true';
    await running.call(
      'PUT',
      `${sessions}/${body.id}/plan`,
      `Do:\n\n\`\`\`sh\n${script}\n\`\`\`\n`,
    );
    await running.call('POST', `${sessions}/${body.id}/approve`);
    await until(body.id, 'completed');
    assert.equal(scene.git('diff', '--name-only', '--diff-filter=U'), 'b.txt\n');
    assert.deepEqual(await outcome(scene), [null, 'conflicted', 'BLOCKED']);
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.status, 'clean', done.text);
    assert.equal(scene.git('status', '--porcelain'), ' M b.txt\nM  c.txt\n?? new.txt\n');
  });
});

describe('a daemon that was killed while it restored uncommitted changes', () => {
  it('before a file was changed: the next one restores them', async (t) => {
    const scene = await conflicted(t);
    scene.git('reset', '--quiet', '--hard');
    await dieIn(scene, { step: 'rebasing', conflicted: null });
    assert.deepEqual(await outcome(scene), [null, 'conflicted', 'BLOCKED']);
    assert.equal(scene.git('diff', '--name-only', '--diff-filter=U'), 'b.txt\n');
    assert.equal((await scene.post('conflicts/abort')).status, 200);
    assert.equal(read(scene, 'b.txt'), 'mine\n');
  });

  it('in the middle of writing: nothing is guessed, and an abort restores everything', async (t) => {
    const scene = await conflicted(t);
    scene.git('reset', '--quiet', '--hard');
    writeFiles(scene.worktree.path, { 'c.txt': 'mine\n' });
    await dieIn(scene, { step: 'rebasing', conflicted: null });
    assert.deepEqual(await outcome(scene), [null, 'interrupted', 'BLOCKED']);
    const applied = await scene.post('conflicts/apply');
    assert.deepEqual([applied.status, applied.body.code], [409, 'uncommitted_changes']);
    assert.equal((await scene.post('conflicts/abort')).status, 200);
    assert.equal(scene.git('status', '--porcelain'), ' M b.txt\nM  c.txt\n?? new.txt\n');
  });

  it('after git wrote the conflict: it is a conflict as any other', async (t) => {
    const scene = await conflicted(t);
    await dieIn(scene, { step: 'rebasing', conflicted: null });
    assert.deepEqual(await outcome(scene), [null, 'conflicted', 'BLOCKED']);
    writeFiles(scene.worktree.path, { 'b.txt': 'both\n' });
    assert.equal((await scene.post('conflicts/apply')).body.status, 'clean');
  });

  it('after the files were staged: apply is sent again', async (t) => {
    const scene = await conflicted(t);
    writeFiles(scene.worktree.path, { 'b.txt': 'both\n' });
    scene.git('add', 'b.txt');
    await dieIn(scene, { step: 'applying' });
    assert.deepEqual(await outcome(scene), [null, 'interrupted', 'BLOCKED']);
    assert.equal((await scene.post('conflicts/apply')).body.status, 'clean');
    assert.equal(scene.git('status', '--porcelain'), ' M b.txt\nM  c.txt\n?? new.txt\n');
  });

  it('after everything was restored: the record is completed', async (t) => {
    const scene = await stopped(t, { base: [{ 'a.txt': 'base\n' }] });
    await rebase(scene);
    const aside = scene
      .git('for-each-ref', '--format=%(objectname)', 'refs/dossier/set-aside')
      .trim();
    scene.git('checkout', '--theirs', 'a.txt');
    scene.git('add', 'a.txt');
    scene.git(...GIT, '-c', 'core.editor=true', 'rebase', '--continue');
    scene.git('stash', 'apply', '--quiet', '--index', aside);
    await dieIn(scene, { step: 'applying' });
    assert.deepEqual(await outcome(scene), ['resolved', null, 'OPEN']);
    assert.equal(scene.git('status', '--porcelain'), ' M b.txt\nM  c.txt\n?? new.txt\n');
    assert.equal(refs(scene), '');
  });
});
