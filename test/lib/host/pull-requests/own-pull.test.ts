/** pr/pr.md is an ordinary file: it does not decide where the operator's token writes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { writeFiles } from '../../../helpers/repository.ts';
import { assertProblem } from '../../../helpers/work-item.ts';
import { openedScene, type PullScene } from './fixture.ts';

type Opened = PullScene & { number: number };

const edited = (scene: Opened, from: string | RegExp, to: string): void =>
  writeFiles(`${scene.running.workspace}/${scene.item.path}`, {
    'pr/pr.md': scene.read('pr/pr.md').replace(from, to),
  });

const patched = ({ running, item }: Opened, body: object) =>
  running.call<{ code: string; detail: string }>('PATCH', `/api/cases/${item.id}/pr`, body);

/** A second pull request, of a colleague, with a thread. */
const withTheirs = async (scene: Opened): Promise<{ theirs: number; thread: string }> => {
  const { host } = scene;
  await host.repositories.push({ branch: 'work/theirs', files: { 'a.ts': 'a\nb\n' } });
  const { number: theirs } = await host.pulls.open('work/theirs', { draft: true });
  const comments = [{ path: 'a.ts', line: 1, body: 'Why?' }];
  const { threads } = await host.pulls.review(theirs, { comments });
  return { theirs, thread: threads[0] ?? '' };
};

describe('a write to the pull request that pr/pr.md names', () => {
  it('is 409 where no remote of the project is its repository, and nothing is sent', async (t) => {
    const scene = await openedScene(t);
    await scene.prove();
    edited(scene, 'repository: acme/app', 'repository: stranger/app');
    edited(scene, /^node_id: .*$/m, 'node_id: PR_theirs');
    scene.host.requests.length = 0;
    const refused = assertProblem(await scene.post('comment-proof'), 409, 'pull_mismatch');
    assert.match(refused.detail, /stranger\/app.*github\.com\/acme\/app.*pr\/pr\.md/);
    assertProblem(await patched(scene, { title: 'Theirs' }), 409, 'pull_mismatch');
    assertProblem(await scene.post('push'), 409, 'pull_mismatch');
    assert.deepEqual(scene.host.writes(), []);
    // Without an id, nothing is asked.
    edited(scene, /^node_id: .*\n/m, '');
    scene.host.requests.length = 0;
    assertProblem(await scene.post('push'), 409, 'pull_mismatch');
    assert.deepEqual(scene.host.requests, []);
  });

  for (const what of ['push', 'title', 'ready', 'sync'] as const)
    it(`follows a rename of the repository once a remote has the new name (${what})`, async (t) => {
      const scene = await openedScene(t);
      const { host, git } = scene;
      await scene.prove();
      await patched(scene, { notes: 'Mine.' });
      await host.repositories.rename('acme/new');
      git('remote', 'set-url', 'origin', 'https://github.com/acme/new.git');
      const calls = {
        push: () => scene.post('push'),
        title: () => patched(scene, { title: 'Half up' }),
        ready: () => scene.post('mark-ready'),
        sync: () => scene.post('sync-state'),
      };
      const answer = await calls[what]();
      assert.equal(answer.status, 200, answer.text);
      if (what !== 'sync') assert.match(scene.read('pr/pr.md'), /^repository: acme\/new$/m);
      assert.match(scene.read('pr/pr.md'), /^notes: Mine\.$/m);
      assert.deepEqual(scene.files('pr').includes('former'), false);
    });

  it('follows a rename past a remote that the token may not read, which is named where none has it', async (t) => {
    const scene = await openedScene(t, { repositories: ['acme/private'] });
    const { host, git } = scene;
    const refuse = () => host.fail('graphql forbidden', { graphql: 'query PullRequest' });
    await host.repositories.rename('acme/new');
    git('remote', 'add', 'upstream', 'https://github.com/acme/private.git');
    git('remote', 'set-url', 'origin', 'https://github.com/acme/other.git');
    refuse();
    const refused = assertProblem(await scene.post('push'), 403, 'codehost_forbidden');
    assert.match(refused.detail, /acme\/private#1 \(Resource not accessible/);
    git('remote', 'set-url', 'origin', 'https://github.com/acme/new.git');
    refuse();
    const pushed = await patched(scene, { title: 'Half up' });
    assert.equal(pushed.status, 200, pushed.text);
    assert.match(scene.read('pr/pr.md'), /^repository: acme\/new$/m);
  });

  it('is 409 where it is of another branch, and theirs stays as it is', async (t) => {
    const scene = await openedScene(t);
    const { host, number, running, item, worktree } = scene;
    await scene.prove();
    const { theirs, thread } = await withTheirs(scene);
    const suggest = { body: 'Mine.' };
    const at = `/api/cases/${item.id}/pr-body`;
    edited(scene, `number: ${number}`, `number: ${theirs}`);
    const update = await running.call<{ id: string }>('POST', `${at}/suggest-update`, suggest);
    const before = host.writes().length;
    const refused = assertProblem(await scene.post('comment-proof'), 409, 'pull_mismatch');
    assert.match(refused.detail, new RegExp(`work/theirs.*${worktree.branch}`));
    assertProblem(await patched(scene, { title: 'Mine' }), 409, 'pull_mismatch');
    assertProblem(await patched(scene, { labels: ['mine'] }), 409, 'pull_mismatch');
    const approve = `${at}/updates/${update.body.id}/approve`;
    assertProblem(await running.call('POST', approve), 409, 'pull_mismatch');
    const resolve = `reviews/thread:${thread}/resolve`;
    const path = `/api/cases/${item.id}/pr/${resolve}`;
    assertProblem(await running.call('POST', path), 409, 'pull_mismatch');
    assert.ok((await scene.post('mark-ready')).status >= 400);
    assert.equal(host.pulls.isResolved(thread), false);
    assert.equal(host.writes().length, before);
    assert.equal((await patched(scene, { notes: 'only here' })).status, 200);
  });

  it('resolves no thread of another pull request', async (t) => {
    const scene = await openedScene(t);
    const { host, running, item, number } = scene;
    const { theirs, thread } = await withTheirs(scene);
    edited(scene, `number: ${number}`, `number: ${theirs}`);
    await running.call('GET', `/api/cases/${item.id}/pr/reviews`);
    edited(scene, `number: ${theirs}`, `number: ${number}`);
    const path = `/api/cases/${item.id}/pr/reviews/thread:${thread}/resolve`;
    assert.ok((await running.call('POST', path)).status >= 400);
    assert.equal(host.pulls.isResolved(thread), false);
  });

  it('goes on once the worktree is removed', async (t) => {
    const scene = await openedScene(t);
    await scene.prove();
    const { running, item } = scene;
    const gone = await running.call('DELETE', `/api/cases/${item.id}/worktree?force=true`);
    assert.ok(gone.status < 300, gone.text);
    assert.equal((await patched(scene, { title: 'Mine' })).status, 200);
    assert.equal((await scene.post('comment-proof')).status, 200);
  });
});

describe('POST /api/cases/{id}/pr/sync-state of another pull request', () => {
  it('leaves the record as it is', async (t) => {
    const scene = await openedScene(t);
    const { theirs } = await withTheirs(scene);
    edited(scene, `number: ${scene.number}`, `number: ${theirs}`);
    const before = scene.read('pr/pr.md');
    const refused = assertProblem(await scene.post('sync-state'), 409, 'pull_mismatch');
    assert.match(refused.detail, /work\/theirs/);
    assert.equal(scene.read('pr/pr.md'), before);
  });
});

describe('GET /api/cases/{id}/pr/reviews of another pull request', () => {
  it('records none of its reviews', async (t) => {
    const scene = await openedScene(t);
    const { running, item } = scene;
    const { theirs } = await withTheirs(scene);
    edited(scene, `number: ${scene.number}`, `number: ${theirs}`);
    const path = `/api/cases/${item.id}/pr/reviews`;
    assertProblem(await running.call('GET', path), 409, 'pull_mismatch');
    assert.deepEqual((await running.call('GET', `${path}?local=true`)).body, []);
  });
});
