import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { writeFiles } from '../../../helpers/repository.ts';
import { assertProblem } from '../../../helpers/work-item.ts';
import { type Answer, openedScene, type PullScene } from './fixture.ts';

const recorded = async ({ get }: PullScene): Promise<unknown[]> => {
  const { body } = await get<{ stale: boolean; head_sha: string }>('');
  return [body.stale, body.head_sha];
};

describe('the record of a pull request whose branch is pushed', () => {
  it('is stale until the host is asked, and not where nothing was pushed', async (t) => {
    const scene = await openedScene(t);
    const first = scene.git('rev-parse', 'HEAD').trim();
    assert.equal((await scene.post('push')).status, 200);
    assert.deepEqual(await recorded(scene), [false, first]);
    const later = scene.work({ 'later.ts': '1\n' });
    assert.equal((await scene.post('push')).status, 200);
    assert.deepEqual(await recorded(scene), [true, first]);
    assert.equal((await scene.get('')).body.head_in_sync, null);
    assert.equal((await scene.get('status')).status, 200);
    assert.deepEqual(await recorded(scene), [false, later]);
  });

  it('has no failing checks any more: they looked at the commit before', async (t) => {
    const scene = await openedScene(t);
    const { host, worktree, running, item, post } = scene;
    await host.repositories.check(worktree.branch, 'unit', 'failure');
    const blocking = async (): Promise<unknown[]> => {
      const path = `/api/cases/${item.id}/pr/reviews/unresolved?local=true`;
      return (await running.call<unknown[]>('GET', path)).body;
    };
    await running.call('GET', `/api/cases/${item.id}/pr/reviews`);
    assert.equal((await blocking()).length, 1);
    await post('push');
    assert.equal((await blocking()).length, 1);
    scene.work({ 'later.ts': '1\n' });
    assert.equal((await post('push')).status, 200);
    assert.deepEqual(await blocking(), []);
  });

  it('is stale after a rebase too, and may be pushed to as before', async (t) => {
    const scene = await openedScene(t);
    const { host, running, item, git, post } = scene;
    const first = git('rev-parse', 'HEAD').trim();
    await host.repositories.push({ branch: 'main', files: { 'base.ts': '1\n' } });
    const rebased = await running.call('POST', `/api/cases/${item.id}/pr/rebase`);
    assert.equal(rebased.status, 200, rebased.text);
    const head = git('rev-parse', 'HEAD').trim();
    assert.notEqual(head, first);
    assert.deepEqual(await recorded(scene), [false, first]);
    const pushed = await running.call('POST', `/api/cases/${item.id}/conflicts/push-rebased`);
    assert.equal(pushed.status, 200, pushed.text);
    assert.deepEqual(await recorded(scene), [true, first]);
    assert.match(scene.read('pr/pr.md'), new RegExp(`pushed_commit: ${head}`));
    const synced = await post('sync-state');
    assert.equal(synced.status, 200, synced.text);
    assert.deepEqual(await recorded(scene), [false, head]);
  });
});

describe('a push once the pull request was ended on the host', () => {
  const deleteBranch = ({ host, worktree }: PullScene): void => {
    host.repository.git('update-ref', '-d', `refs/heads/${worktree.branch}`);
  };

  for (const end of ['merge', 'close'] as const)
    it(`is refused without a sync, commits nothing and brings no branch back (${end})`, async (t) => {
      const scene = await openedScene(t);
      const { host, worktree, git, post } = scene;
      await host.pulls[end](scene.number);
      deleteBranch(scene);
      const later = scene.work({ 'later.ts': '1\n' });
      writeFiles(worktree.path, { 'open.ts': '1\n' });
      const refused = assertProblem(
        await post('push', { changes: 'commit' }),
        422,
        'invalid_state',
      );
      assert.match(refused.detail, /is (merged|closed)\..*sync-state.*pr\/create/);
      assert.equal(await host.repositories.headOf(worktree.branch), undefined);
      assert.equal(git('rev-parse', 'HEAD').trim(), later);
      assert.equal((await scene.get('')).body.state, end === 'merge' ? 'merged' : 'closed');
    });

  it('is refused after a rebase, too, and goes on with another pull request', async (t) => {
    const scene = await openedScene(t);
    const { host, worktree, running, item, git, post } = scene;
    const merged = git('rev-parse', 'HEAD').trim();
    await host.pulls.merge(scene.number);
    await host.repositories.push({ branch: 'main', files: { 'base.ts': '1\n' } });
    scene.work({ 'later.ts': '1\n' });
    const call = (path: string) => running.call<Answer>('POST', `/api/cases/${item.id}/${path}`);
    assert.equal((await call('pr/rebase')).status, 200);
    const refused = assertProblem(await call('conflicts/push-rebased'), 422, 'invalid_state');
    assert.match(refused.detail, /is merged\..*pr\/create/);
    assert.equal(await host.repositories.headOf(worktree.branch), merged);
    const again = await post('create');
    assert.deepEqual([again.status, again.body.number], [201, scene.number + 1], again.text);
  });

  it('is refused where the branch alone is gone, also after a rebase, and create opens another one', async (t) => {
    const scene = await openedScene(t);
    const { host, worktree, running, item, post } = scene;
    deleteBranch(scene);
    scene.work({ 'later.ts': '1\n' });
    const { body: status } = await scene.get<{ head_in_sync: null; notes: string[] }>('status');
    assert.deepEqual(
      [status.head_in_sync, status.notes],
      [null, ['The remote does not have the branch.']],
    );
    const checks = (await scene.get('ready-check')).text;
    assert.doesNotMatch(checks, /does not have the newest commit yet/);
    const refused = assertProblem(await post('push'), 409, 'remote_moved');
    assert.match(refused.detail, /was deleted on the remote .* Nothing was pushed\./);
    await host.repositories.push({ branch: 'main', files: { 'base.ts': '1\n' } });
    const rebased = await running.call('POST', `/api/cases/${item.id}/pr/rebase`);
    assert.equal(rebased.status, 200, rebased.text);
    const path = `/api/cases/${item.id}/conflicts/push-rebased`;
    assertProblem(await running.call<Answer>('POST', path), 409, 'remote_moved');
    assert.equal(await host.repositories.headOf(worktree.branch), undefined);
    await host.pulls.close(scene.number);
    assertProblem(await post('push'), 422, 'invalid_state');
    const again = await post('create');
    assert.deepEqual([again.status, again.body.adopted], [201, false], again.text);
  });
});
