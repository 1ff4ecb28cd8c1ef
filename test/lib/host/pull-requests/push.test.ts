import assert from 'node:assert/strict';
import { chmodSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openGitServer } from '../../../helpers/git-server.ts';
import {
  gitIn,
  makeRepository,
  type TestRepository,
  temporaryDirectory,
  writeFiles,
} from '../../../helpers/repository.ts';
import { commit, rebaseScene, type Scene, withRemote } from '../../work/conflicts/fixture.ts';

interface RemoteScene extends Scene {
  remote: TestRepository;
  /** The Work item's branch on the remote. */
  there: () => string;
}

const rebased = async (t: TestContext): Promise<RemoteScene> => {
  const scene = await rebaseScene(t, {
    start: { 'a.txt': 'one\n' },
    base: [{ 'b.txt': 'base\n' }],
    branch: [{ 'a.txt': 'branch\n' }],
  });
  const remote = withRemote(t, scene);
  const there = (): string => remote.git('rev-parse', scene.worktree.branch).trim();
  const { body, text } = await scene.post('pr/rebase');
  assert.equal(body.status, 'clean', text);
  return { ...scene, remote, there };
};

/** A colleague's clone of the branch, with a commit on top, pushed. */
const pushInBetween = (t: TestContext, { remote, worktree }: RemoteScene): string => {
  const root = temporaryDirectory(t);
  gitIn(root)('clone', '--quiet', '--branch', worktree.branch, remote.root, '.');
  const made = commit(gitIn(root), root, { 'colleague.txt': 'work\n' });
  gitIn(root)('push', '--quiet', 'origin', worktree.branch);
  return made;
};

describe('POST /api/cases/{id}/conflicts/push-rebased', () => {
  it('replaces what the remote had when the rebase began, and only that branch', async (t) => {
    const scene = await rebased(t);
    const { git, remote, worktree } = scene;
    const before = scene.there();
    const main = remote.git('rev-parse', 'main');
    const { status, body, text } = await scene.post('conflicts/push-rebased');
    assert.equal(status, 200, text);
    const head = git('rev-parse', 'HEAD').trim();
    const ref = `refs/heads/${worktree.branch}`;
    assert.deepEqual(body, { status: 'pushed', remote: 'origin', ref, head, replaced: before });
    assert.equal(scene.there(), head);
    assert.equal(remote.git('rev-parse', 'main'), main);
    assert.ok((await scene.history())[0]?.pushed_at);
    const later = commit(git, worktree.path, { 'later.txt': 'later\n' });
    const again = await scene.post('conflicts/push-rebased');
    assert.deepEqual([again.status, scene.there()], [200, later], again.text);
  });

  it('never overwrites what was pushed in between', async (t) => {
    const scene = await rebased(t);
    const theirs = pushInBetween(t, scene);
    // Also when it was fetched since: what counts is what was there when the rebase began.
    scene.git('fetch', '--quiet', 'origin');
    const refused = await scene.post('conflicts/push-rebased');
    assert.deepEqual([refused.status, refused.body.code], [409, 'remote_moved'], refused.text);
    assert.match(refused.body.detail, /Nothing was overwritten/);
    assert.equal(scene.there(), theirs);
    const anew = await scene.post('pr/rebase');
    assert.deepEqual([anew.status, anew.body.code], [409, 'remote_moved'], anew.text);
    assert.match(anew.body.detail, /has commits that the worktree does not have/);
  });

  it('goes where nothing was, and not over a branch that has come since', async (t) => {
    const scene = await rebased(t);
    const { git, worktree, remote } = scene;
    git('push', '--quiet', '--delete', 'origin', worktree.branch);
    assert.equal((await scene.post('pr/rebase')).status, 200);
    git('push', '--quiet', 'origin', `main:refs/heads/${worktree.branch}`);
    const refused = await scene.post('conflicts/push-rebased');
    assert.deepEqual([refused.status, refused.body.code], [409, 'remote_moved'], refused.text);
    remote.git('branch', '-D', worktree.branch);
    const pushed = await scene.post('conflicts/push-rebased');
    assert.deepEqual([pushed.status, (pushed.body as { replaced?: string }).replaced], [200, null]);
  });

  it('takes a rebase that followed another before anything was pushed', async (t) => {
    const scene = await rebased(t);
    const { main, running } = scene;
    commit(main, running.repository.root, { 'c.txt': 'base again\n' });
    const second = await scene.post('pr/rebase');
    assert.equal(second.status, 200, second.text);
    assert.equal((await scene.post('conflicts/push-rebased')).status, 200);
    assert.equal(scene.there(), scene.git('rev-parse', 'HEAD').trim());
  });

  it('goes where git pushes to, where that is another address than it fetches from', async (t) => {
    const scene = await rebaseScene(t, {
      start: { 'a.txt': 'one\n' },
      base: [{ 'b.txt': 'base\n' }],
      branch: [{ 'a.txt': 'branch\n' }],
    });
    const { main, git, worktree } = scene;
    const fetched = withRemote(t, scene);
    const pushed = makeRepository(t, { bare: true });
    main('remote', 'set-url', '--push', 'origin', pushed.root);
    assert.equal((await scene.post('pr/rebase')).body.status, 'clean');
    const before = fetched.git('rev-parse', worktree.branch);
    const answer = await scene.post('conflicts/push-rebased');
    assert.deepEqual([answer.status, (answer.body as { replaced?: string }).replaced], [200, null]);
    assert.equal(pushed.git('rev-parse', worktree.branch), git('rev-parse', 'HEAD'));
    assert.equal(fetched.git('rev-parse', worktree.branch), before);
  });

  it("uses the code host's token where git has no login of its own", async (t) => {
    const server = await openGitServer(t);
    const { host } = new URL(server.url);
    const scene = await rebaseScene(t, {
      start: { 'a.txt': 'one\n' },
      base: [{ 'b.txt': 'base\n' }],
      branch: [{ 'a.txt': 'branch\n' }],
      settings: `codehost:\n  host: "${host}"`,
      env: { GH_ENTERPRISE_TOKEN: server.token },
    });
    const { main, git, worktree, running } = scene;
    const hosted = server.host('acme/app.git', running.repository);
    main('remote', 'add', 'origin', hosted.url);
    assert.equal((await scene.post('pr/rebase')).body.status, 'clean');
    const pushed = await scene.post('conflicts/push-rebased');
    assert.equal(pushed.status, 200, pushed.text);
    const there = hosted.git('rev-parse', worktree.branch);
    assert.equal(there, git('rev-parse', 'HEAD'));
    assert.equal(git('rev-parse', `refs/remotes/origin/${worktree.branch}`), there);
    assert.doesNotMatch(git('config', '--list'), new RegExp(server.token));
  });

  it('says why the remote does not take it', async (t) => {
    const scene = await rebased(t);
    const { remote } = scene;
    const before = scene.there();
    const hook = join(remote.root, 'hooks', 'pre-receive');
    writeFileSync(hook, '#!/bin/sh\necho "only on Mondays" >&2\nexit 1\n');
    chmodSync(hook, 0o755);
    const declined = await scene.post('conflicts/push-rebased');
    assert.deepEqual([declined.status, declined.body.code], [422, 'push_refused'], declined.text);
    assert.match(declined.body.detail, /only on Mondays/);
    assert.equal(scene.there(), before);
    renameSync(remote.root, `${remote.root}-away`);
    const away = await scene.post('conflicts/push-rebased');
    renameSync(`${remote.root}-away`, remote.root);
    assert.deepEqual([away.status, away.body.code], [404, 'codehost_not_found'], away.text);
    assert.equal((await scene.history())[0]?.pushed_at, null);
  });

  it('never pushes to the base branch, nor before or in the middle of a rebase', async (t) => {
    const scene = await rebaseScene(t, {
      start: { 'a.txt': 'one\n' },
      base: [{ 'a.txt': 'base\n' }],
      branch: [{ 'a.txt': 'branch\n' }],
    });
    const remote = withRemote(t, scene);
    const none = await scene.post('conflicts/push-rebased');
    assert.deepEqual([none.status, none.body.code], [422, 'invalid_state']);
    await scene.post('pr/rebase');
    const middle = await scene.post('conflicts/push-rebased');
    assert.deepEqual([middle.status, middle.body.code], [409, 'rebase_in_progress']);
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n' });
    await scene.post('conflicts/apply');
    // The remote says that this is its main branch.
    scene.git(
      'symbolic-ref',
      'refs/remotes/origin/HEAD',
      `refs/remotes/origin/${scene.worktree.branch}`,
    );
    const before = remote.git('for-each-ref');
    const base = await scene.post('conflicts/push-rebased');
    assert.deepEqual([base.status, base.body.code], [422, 'invalid_state']);
    assert.match(base.body.detail, /is the base branch/);
    scene.git('symbolic-ref', '--delete', 'refs/remotes/origin/HEAD');
    scene.git('reset', '--quiet', '--hard', 'HEAD~1');
    const moved = await scene.post('conflicts/push-rebased');
    assert.deepEqual([moved.status, moved.body.code], [422, 'invalid_state']);
    assert.equal(remote.git('for-each-ref'), before);
  });

  it('runs nothing that the repository names', async (t) => {
    const scene = await rebased(t);
    const { git, worktree } = scene;
    const ran = join(temporaryDirectory(t), 'ran');
    const hooks = join(worktree.path, 'hooks');
    writeFiles(hooks, {
      'pre-push': `#!/bin/sh\ntouch ${ran}\n`,
      'pre-rebase': `#!/bin/sh\ntouch ${ran}\n`,
    });
    for (const name of ['pre-push', 'pre-rebase']) chmodSync(join(hooks, name), 0o755);
    git('config', 'core.hooksPath', 'hooks');
    git('config', 'remote.origin.receivepack', `touch ${ran}; git-receive-pack`);
    git('config', 'remote.origin.uploadpack', `touch ${ran}; git-upload-pack`);
    git('config', 'credential.helper', `!touch ${ran}`);
    git('config', 'core.sshCommand', `touch ${ran}`);
    assert.equal((await scene.post('pr/rebase')).status, 200);
    const pushed = await scene.post('conflicts/push-rebased');
    assert.equal(pushed.status, 200, pushed.text);
    assert.ok(!existsSync(ran));
  });
});

describe('a rebase with a remote', () => {
  it('fetches a base of the remote first, and goes on with what it has when nobody answers', async (t) => {
    const scene = await rebased(t);
    const { remote, main, running } = scene;
    const newer = commit(main, running.repository.root, { 'newer.txt': 'newer\n' });
    main('push', '--quiet', 'origin', 'main');
    main('update-ref', 'refs/remotes/origin/main', 'main~1');
    const fetched = await scene.post('pr/rebase', { onto: 'origin/main' });
    assert.equal(fetched.status, 200, fetched.text);
    assert.equal(scene.git('rev-parse', 'HEAD^').trim(), newer);
    renameSync(remote.root, `${remote.root}-away`);
    const alone = await scene.post('pr/rebase', { onto: 'origin/main' });
    renameSync(`${remote.root}-away`, remote.root);
    assert.equal(alone.status, 200, alone.text);
    assert.match(
      alone.body.notes.join(),
      /fetching origin\/main failed, so its last fetched state.*reading origin failed/,
    );
  });

  it('goes on from the upstream of a local base that is behind it', async (t) => {
    const scene = await rebased(t);
    const { main, running, git } = scene;
    const newer = commit(main, running.repository.root, { 'newer.txt': 'newer\n' });
    main('push', '--quiet', 'origin', 'main');
    main('reset', '--quiet', '--hard', 'HEAD^');
    const behind = await scene.post('pr/rebase');
    assert.deepEqual([behind.status, git('rev-parse', 'HEAD^').trim()], [200, newer], behind.text);
  });
});
