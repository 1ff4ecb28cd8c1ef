import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { openedScene, type PullScene } from './fixture.ts';

/** A pull request whose base a colleague changed on the host, which the record does not say yet. */
const retargeted = async (t: TestContext): Promise<PullScene & { number: number }> => {
  const scene = await openedScene(t);
  await scene.host.repositories.push({ branch: 'release', files: { 'release.ts': '1\n' } });
  await scene.host.pulls.edit(scene.number, { base: 'release' });
  return scene;
};

describe('a pull request that others retargeted on the host', () => {
  it('is rebased onto its base there, as ready-check says', async (t) => {
    const scene = await retargeted(t);
    const { host, number, running, item } = scene;
    host.pulls.setMergeable(number, false);
    const advised = async (): Promise<string | undefined> => {
      const { body } = await scene.get<{ checks: { name: string; detail: string }[] }>(
        'ready-check',
      );
      return body.checks.find(({ name }) => name === 'mergeable')?.detail;
    };
    const [, onto] = /pr\/rebase with (\{.*?\}), and then/.exec((await advised()) ?? '') ?? [];
    assert.equal(onto, '{"onto": "origin/release"}');
    const path = `/api/cases/${item.id}/pr/rebase`;
    const rebased = await running.call('POST', path, JSON.parse(onto));
    assert.equal(rebased.status, 200, rebased.text);
    assert.match(scene.git('ls-files'), /^release\.ts$/m);
    // From then on that is the base of the worktree, too.
    assert.match((await advised()) ?? '', /pr\/rebase, and then/);
  });

  it('is pushed although the former base has all of it', async (t) => {
    const scene = await retargeted(t);
    const { host, worktree, git } = scene;
    const later = scene.work({ 'later.ts': '1\n' });
    git('push', '--quiet', host.repository.root, 'HEAD:refs/heads/main');
    git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    const pushed = await scene.post('push');
    assert.equal(pushed.status, 200, pushed.text);
    assert.equal(await host.repositories.headOf(worktree.branch), later);
  });
});
