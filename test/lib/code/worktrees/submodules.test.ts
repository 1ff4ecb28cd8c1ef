import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { SubmoduleWork } from '../../../../lib/tools/git/read/submodules.ts';
import {
  gitIn,
  makeRepository,
  temporaryDirectory,
  writeFiles,
} from '../../../helpers/repository.ts';
import type { Answered } from '../../../helpers/service.ts';
import { plant } from '../../../helpers/traps.ts';
import { commit, rebaseScene, type Scene } from '../../work/conflicts/fixture.ts';

const FROM_FILES = ['-c', 'protocol.file.allow=always'];

interface WithSubmodule extends Scene {
  /** Where it is checked out, and git in it. */
  inside: string;
  sub: Scene['git'];
  /** What the worktree's status, or health, says of its submodules. */
  told: (what?: 'status' | 'health') => Promise<SubmoduleWork[] | undefined>;
  remove: () => Promise<Answered<{ detail: string }>>;
}

/** A worktree with a submodule checked out; the base then moves the submodule, and both sides change a file. */
const withSubmodule = async (t: TestContext): Promise<WithSubmodule> => {
  const inner = makeRepository(t);
  const scene = await rebaseScene(t, { start: { 'a.txt': 'one\n' } });
  const { git, main, running, worktree, item } = scene;
  const { root } = running.repository;
  main(...FROM_FILES, 'submodule', '--quiet', 'add', inner.root, 'sub');
  commit(main, root, { 'b.txt': 'base\n' });
  git('merge', '--quiet', 'main');
  git(...FROM_FILES, 'submodule', '--quiet', 'update', '--init');
  const two = commit(inner.git, inner.root, { 'two.txt': 'two\n' });
  gitIn(join(root, 'sub'))('fetch', '--quiet');
  gitIn(join(root, 'sub'))('checkout', '--quiet', two);
  commit(main, root, { 'a.txt': 'base\n' });
  commit(git, worktree.path, { 'a.txt': 'branch\n' });
  const inside = join(worktree.path, 'sub');
  const sub = gitIn(inside);
  const told = async (what = 'status') =>
    (
      await running.call<{ submodules?: SubmoduleWork[] }>(
        'GET',
        `/api/worktrees/${item.id}/${what}`,
      )
    ).body.submodules;
  const remove = (): ReturnType<WithSubmodule['remove']> =>
    running.call('DELETE', `/api/cases/${item.id}/worktree?force=true`);
  return { ...scene, inside, sub, told, remove };
};

const work = (files: number, commits: number, path = 'sub') => ({
  ...{ path, files, commits, readable: true },
});

describe('work in a submodule', () => {
  it('is told, and keeps the worktree from being removed, also with force', async (t) => {
    const scene = await withSubmodule(t);
    const { inside, sub, told, remove, worktree, git } = scene;
    assert.deepEqual([await told(), await told('health')], [undefined, undefined]);
    writeFiles(inside, { 'README.md': 'changed\n', 'new.txt': 'new\n' });
    const dirty = [work(2, 0)];
    assert.deepEqual([await told(), await told('health')], [dirty, dirty]);
    const health = `/api/worktrees/${scene.item.id}/health`;
    assert.equal((await scene.running.call<{ dirty: boolean }>('GET', health)).body.dirty, true);
    const refused = await remove();
    assert.equal(refused.status, 409, refused.text);
    assert.match(refused.body.detail, /sub \(2 uncommitted files\)/);

    sub('stash', '--quiet', '--include-untracked');
    assert.equal((await told())?.[0]?.files, 0);
    assert.ok(((await told())?.[0]?.commits ?? 0) > 0);
    sub('stash', 'drop', '--quiet');
    commit(sub, inside, { 'unpushed.txt': 'unpushed\n' });
    assert.deepEqual(await told(), [work(0, 1)]);
    git('add', 'sub');
    git('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'with the submodule');
    assert.match((await remove()).text, /sub \(1 unpushed commit\)/);
    assert.ok(existsSync(worktree.path));

    sub('push', '--quiet', 'origin', 'HEAD:refs/heads/pushed');
    assert.equal(await told(), undefined);
    assert.equal((await remove()).status, 204);
    assert.ok(!existsSync(worktree.path));
  });

  it('is found where it is not checked out any more, deeper down, and in one that git add made', async (t) => {
    const { inside, sub, told, remove, worktree, git } = await withSubmodule(t);
    const inner = makeRepository(t);
    sub(...FROM_FILES, 'submodule', '--quiet', 'add', inner.root, 'deep/er');
    sub('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'deeper');
    sub('push', '--quiet', 'origin', 'HEAD:refs/heads/pushed');
    commit(gitIn(join(inside, 'deep/er')), join(inside, 'deep/er'), { 'x.txt': 'x\n' });
    assert.deepEqual(await told(), [work(1, 0), work(0, 1, 'sub/deep/er')]);
    git('submodule', '--quiet', 'deinit', '--force', 'sub');
    assert.deepEqual(
      (await told())?.map(({ commits }) => commits),
      [1],
    );
    assert.equal((await remove()).status, 409);
    rmSync(worktree.path, { recursive: true });
    assert.equal((await remove()).status, 409);
  });

  it('is found in a repository that was made in the worktree and added', async (t) => {
    const { remove, worktree, git } = await withSubmodule(t);
    const own = join(worktree.path, 'own');
    writeFiles(own, { 'x.txt': 'x\n' });
    gitIn(own)('init', '--quiet');
    commit(gitIn(own), own, { 'y.txt': 'y\n' });
    git('-c', 'advice.addEmbeddedRepo=false', 'add', 'own');
    git('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'own');
    assert.match((await remove()).text, /own \(1 unpushed commit\)/);
    writeFiles(own, { '.git/HEAD': 'nonsense\n' });
    assert.match((await remove()).text, /own \(git cannot read it\)/);
  });

  it('is found in a repository in the place of a tracked file', async (t) => {
    const { remove, worktree } = await withSubmodule(t);
    for (const name of ['a.txt', 'b.txt']) {
      rmSync(join(worktree.path, name));
      writeFiles(worktree.path, { [`${name}/x.txt`]: 'x\n' });
      gitIn(join(worktree.path, name))('init', '--quiet');
    }
    const committed = join(worktree.path, 'b.txt');
    commit(gitIn(committed), committed, { 'y.txt': 'y\n' });
    assert.match((await remove()).text, /contains other repositories: a\.txt, b\.txt\. /);
  });

  it('is also a file where one is not checked out, with and without .gitmodules', async (t) => {
    const { told, remove, worktree, git, item, running } = await withSubmodule(t);
    git('submodule', '--quiet', 'deinit', '--force', 'sub');
    git('rm', '--quiet', '--cached', '.gitmodules');
    rmSync(join(worktree.path, '.gitmodules'));
    git('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'no .gitmodules');
    rmSync(join(git('rev-parse', '--absolute-git-dir').trim(), 'modules'), { recursive: true });
    mkdirSync(join(worktree.path, 'sub', 'empty'));
    assert.equal(await told(), undefined);
    writeFiles(worktree.path, { 'sub/src/main.c': 'int main;\n', 'sub/b': 'b\n' });
    assert.equal(git('status', '--porcelain'), '');
    assert.deepEqual([await told(), await told('health')], [[work(2, 0)], [work(2, 0)]]);
    const gently = await running.call('DELETE', `/api/cases/${item.id}/worktree`);
    assert.equal(gently.status, 409, gently.text);
    assert.match((await remove()).text, /sub \(2 uncommitted files\).*not checked out/);
    rmSync(join(worktree.path, 'sub', 'src'), { recursive: true });
    rmSync(join(worktree.path, 'sub', 'b'));
    assert.equal((await remove()).status, 204);
  });

  it('is looked for without running what its own settings name', async (t) => {
    const { inside, sub, told, remove, worktree } = await withSubmodule(t);
    writeFiles(inside, { '.gitattributes': '* filter=clean diff=textconv\n' });
    const marks = plant(t, { root: temporaryDirectory(t), git: sub });
    writeFiles(inside, { 'README.md': 'changed\n' });
    assert.deepEqual(await told(), [work(2, 0)]);
    assert.equal((await remove()).status, 409);
    assert.ok(existsSync(worktree.path));
    assert.deepEqual(marks(), []);
  });
});

describe('a rebase around a submodule', () => {
  it('leaves it as it is, to the end or until an abort', async (t) => {
    const scene = await withSubmodule(t);
    const { inside, sub, git, worktree } = scene;
    writeFiles(inside, { 'README.md': 'changed\n', 'new.txt': 'new\n' });
    const state = () => [sub('rev-parse', 'HEAD'), sub('status', '--porcelain'), sub('diff')];
    const [before, status] = [state(), git('status', '--porcelain')];
    assert.equal((await scene.post('pr/rebase')).body.status, 'conflicted');
    assert.deepEqual(state(), before);
    const { body, text } = await scene.post('conflicts/abort');
    assert.deepEqual([body.status, body.left], ['aborted', []], text);
    assert.deepEqual([...state(), git('status', '--porcelain')], [...before, status]);

    await scene.post('pr/rebase');
    writeFiles(worktree.path, { 'a.txt': 'both\n' });
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.status, 'clean', done.text);
    assert.deepEqual(state(), before);
    assert.equal(git('rev-parse', 'HEAD:sub'), scene.main('rev-parse', 'main:sub'));
    commit(scene.main, scene.running.repository.root, { 'c.txt': 'base\n' });
    const kept = await scene.post('pr/rebase', { keep_changes: true });
    assert.deepEqual([kept.body.status, kept.body.changes], ['clean', 'brought_back'], kept.text);
    assert.deepEqual(state(), before);
  });

  it('onto a base that has one gives the exact state before when it is aborted', async (t) => {
    const inner = makeRepository(t);
    const scene = await rebaseScene(t, {
      start: { 'a.txt': 'one\n' },
      branch: [{ 'a.txt': 'branch\n' }],
    });
    const { git, main, running, worktree } = scene;
    main(...FROM_FILES, 'submodule', '--quiet', 'add', inner.root, 'sub');
    commit(main, running.repository.root, { 'a.txt': 'base\n' });
    await scene.post('pr/rebase');
    const first = await scene.post('conflicts/abort');
    assert.deepEqual(first.body.left, [], first.text);
    assert.equal(git('status', '--porcelain'), '');
    await scene.post('pr/rebase');
    git(...FROM_FILES, 'submodule', '--quiet', 'update', '--init');
    writeFiles(join(worktree.path, 'sub'), { 'mine.txt': 'mine\n' });
    const second = await scene.post('conflicts/abort');
    assert.deepEqual(second.body.left, ['the git state'], second.text);
    assert.ok(existsSync(join(worktree.path, 'sub', 'mine.txt')));
  });
});
