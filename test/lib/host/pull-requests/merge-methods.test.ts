import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Case } from '../../../../store/records/case.ts';
import { assertProblem } from '../../../helpers/work-item.ts';
import { type Answer, openedScene, type PullScene } from './fixture.ts';

const mergedOf = async ({ running, item }: PullScene): Promise<Case['merged']> =>
  (await running.call<Case>('GET', `/cases/${item.id}`)).body.merged;

const remove = ({ running, item }: PullScene) =>
  running.call<Answer>('DELETE', `/api/cases/${item.id}/worktree`);

// From its directory: git in the worktree blocks the host.
const fetched = ({ git, host, worktree: { branch } }: PullScene): string =>
  git('fetch', '--quiet', host.repository.root, `+${branch}:refs/remotes/origin/${branch}`);

for (const method of ['merge', 'squash', 'rebase'] as const)
  describe(`a pull request that was merged on the host (${method})`, () => {
    it('is merged work', async (t) => {
      const scene = await openedScene(t);
      scene.work({ 'more.ts': '1\n' });
      assert.equal((await scene.post('push')).status, 200);
      await scene.host.pulls.merge(scene.number, method);
      scene.host.repository.git('update-ref', '-d', `refs/heads/${scene.worktree.branch}`);
      scene.git('update-ref', '-d', `refs/remotes/origin/${scene.worktree.branch}`);
      const synced = await scene.post('sync-state');
      assert.deepEqual([synced.status, synced.body.state], [200, 'merged'], synced.text);
      const merged = await mergedOf(scene);
      assert.deepEqual(
        [merged?.into, merged?.commit],
        ['main', scene.git('rev-parse', 'HEAD').trim()],
      );
      const removed = await remove(scene);
      assert.equal(removed.status, 204, removed.text);
      assert.deepEqual(await mergedOf(scene), merged);
    });

    it('keeps what came later, and rebases that alone', async (t) => {
      const scene = await openedScene(t);
      const { running, item, git, host } = scene;
      // Two commits of one line: a squash is neither of them.
      scene.work({ 'tax.ts': 'export const tax = 2;\n' });
      assert.equal((await scene.post('push')).status, 200);
      await host.pulls.merge(scene.number, method);
      await scene.post('sync-state');
      scene.work({ 'later.ts': '1\n' });
      assertProblem(await remove(scene), 409, 'work_would_be_lost');
      assert.equal(await mergedOf(scene), undefined);
      // The file of the merged commit has changed in the base since.
      await host.repositories.push({ branch: 'main', files: { 'tax.ts': 'export {};\n' } });
      const onto = { onto: 'origin/main' };
      const rebased = await running.call<{ notes?: string[] }>(
        ...(['POST', `/api/cases/${item.id}/pr/rebase`, onto] as const),
      );
      assert.equal(rebased.status, 200, rebased.text);
      const left =
        method === 'merge' ? /^$/ : /were merged with #\d+ as \w+, so they are not moved/;
      assert.match(rebased.body.notes?.join('; ') ?? '', left);
      assert.equal(git('log', '--format=%s', 'origin/main..HEAD').trim(), 'change later.ts');
      const pushed = await running.call('POST', `/api/cases/${item.id}/conflicts/push-rebased`);
      assert.equal(pushed.status, 200, pushed.text);
      const next = await scene.post('create');
      assert.deepEqual([next.status, next.body.number], [201, scene.number + 1], next.text);
    });

    it('stays merged once nothing of the branch is left after a rebase', async (t) => {
      const scene = await openedScene(t);
      const { running, item, git, host } = scene;
      await host.pulls.merge(scene.number, method);
      await scene.post('sync-state');
      const merged = await mergedOf(scene);
      const onto = { onto: 'origin/main' };
      const rebased = await running.call('POST', `/api/cases/${item.id}/pr/rebase`, onto);
      assert.equal(rebased.status, 200, rebased.text);
      assert.equal(git('rev-parse', 'HEAD'), git('rev-parse', 'origin/main'));
      assert.equal((await remove(scene)).status, 204);
      assert.deepEqual(await mergedOf(scene), merged);
    });

    it('is merged with a commit of a colleague, too', async (t) => {
      const scene = await openedScene(t);
      const { host, worktree } = scene;
      await host.repositories.push({ branch: worktree.branch, files: { 'theirs.ts': '1\n' } });
      await host.pulls.merge(scene.number, method);
      await scene.post('sync-state');
      const merged = await mergedOf(scene);
      assert.notEqual(merged?.commit, scene.git('rev-parse', 'HEAD').trim());
      // Only the id of what was merged tells that nothing is lost.
      fetched(scene);
      scene.git('update-ref', '-d', `refs/remotes/origin/${worktree.branch}`);
      assert.equal((await remove(scene)).status, 204);
      assert.deepEqual(await mergedOf(scene), merged);
    });
  });

describe('a pull request that was merged without what we pushed', () => {
  it('is no merge of our work', async (t) => {
    const scene = await openedScene(t);
    const { host, worktree, git } = scene;
    git('commit', '--allow-empty', '--quiet', '-m', 'ours');
    assert.equal((await scene.post('push')).status, 200);
    host.repository.git('update-ref', `refs/heads/${worktree.branch}`, 'main');
    await host.repositories.push({ branch: worktree.branch, files: { 'theirs.ts': '1\n' } });
    fetched(scene);
    await host.pulls.merge(scene.number, 'squash');
    await scene.post('sync-state');
    assertProblem(await remove(scene), 409, 'work_would_be_lost');
    assert.equal(await mergedOf(scene), undefined);
  });
});

describe('a pull request that its file calls merged', () => {
  it('leaves no commit out of a rebase while the host has not merged it', async (t) => {
    const scene = await openedScene(t);
    const { running, item, git, host } = scene;
    await host.repositories.push({ branch: 'main', files: { 'other.ts': '1\n' } });
    const root = git('rev-list', '--max-parents=0', 'HEAD').trim();
    const file = join(running.workspace, item.path, 'pr/pr.md');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/^merge_commit: .*$/m, `merge_commit: ${root}`));
    assert.match(readFileSync(file, 'utf8'), new RegExp(`merge_commit: ${root}`));
    const onto = { onto: 'origin/main' };
    const rebased = await running.call('POST', `/api/cases/${item.id}/pr/rebase`, onto);
    assert.equal(rebased.status, 200, rebased.text);
    assert.equal(git('rev-list', '--count', 'origin/main..HEAD').trim(), '1');
  });
});

describe('the record of a merged pull request, copied from another Work item', () => {
  it('makes no merged work of that one, also once the host was read, or the worktree removed', async (t) => {
    const scene = await openedScene(t);
    const { running, item, host, number } = scene;
    await host.pulls.merge(number);
    assert.equal((await scene.post('sync-state')).status, 200);
    const { body: other } = await running.call<Case>('POST', '/cases', {
      ...{ title: 'Other', type: 'bug', description: '' },
    });
    const made = await running.call('POST', '/api/worktrees', { case_id: other.id });
    assert.equal(made.status, 201, made.text);
    const [from, to] = [item, other].map(({ path }) => join(running.workspace, path, 'pr'));
    mkdirSync(to ?? '');
    copyFileSync(join(from ?? '', 'pr.md'), join(to ?? '', 'pr.md'));
    const copy = { ...scene, item: other };
    const synced = await running.call('POST', `/api/cases/${other.id}/pr/sync-state`);
    assert.equal(synced.status, 200, synced.text);
    assert.equal(await mergedOf(copy), undefined);
    const removed = await remove(copy);
    assert.equal(removed.status, 204, removed.text);
    assert.equal(await mergedOf(copy), undefined);
    assert.equal((await mergedOf(scene))?.into, 'main');
  });
});
