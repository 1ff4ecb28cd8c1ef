import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ask } from '../helpers/codehost/ask.ts';
import { startCodeHost } from '../helpers/codehost/code-host.ts';

const APP = '/repos/acme/app';

const withPull = async (t: TestContext) => {
  const host = await startCodeHost(t);
  const sha = await host.repositories.push({ branch: 'work/one' });
  const body = { title: 'One', body: 'Fixes #1', head: 'work/one', base: 'main', draft: true };
  const made = await ask(host, 'POST', `${APP}/pulls`, { body });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return { host, sha, number: made.body.number as number };
};

describe('the fake host', () => {
  it('answers every operation of the client as GitHub describes it', async (t) => {
    const host = await startCodeHost(t);
    await host.issues.add({
      labels: ['bug'],
      milestone: 'v1',
      assignees: ['colleague'],
      comments: ['a'],
    });
    await host.repositories.push({ branch: 'work/one' });
    await host.repositories.check('work/one', 'build', 'success');
    await host.repositories.status('work/one', 'ci', 'success');
    const body = { title: 'One', body: 'Fixes #1', head: 'work/one', base: 'main', draft: true };
    const { body: pull } = await ask(host, 'POST', `${APP}/pulls`, { body });
    const { number } = pull;
    const review = await host.pulls.review(number, {
      comments: [{ path: 'colleague.md', line: 1, body: 'x' }],
    });
    for (const path of [
      '/user',
      '/rate_limit',
      '/search/issues?q=repo:acme/app',
      APP,
      `${APP}/assignees`,
      `${APP}/branches`,
      `${APP}/branches/work/one`,
      `${APP}/collaborators`,
      `${APP}/collaborators/operator/permission`,
      `${APP}/commits/work/one/check-runs`,
      `${APP}/commits/work/one/status`,
      `${APP}/commits/work/one/statuses`,
      `${APP}/issues?state=all`,
      `${APP}/issues/1`,
      `${APP}/issues/2`,
      `${APP}/issues/1/comments`,
      `${APP}/issues/1/timeline`,
      `${APP}/labels`,
      `${APP}/milestones`,
      `${APP}/pulls`,
      `${APP}/pulls/2`,
      `${APP}/pulls/2/comments`,
      `${APP}/pulls/2/commits`,
      `${APP}/pulls/2/files`,
      `${APP}/pulls/2/reviews`,
      `${APP}/pulls/2/reviews/${review.id}`,
      `${APP}/pulls/2/reviews/${review.id}/comments`,
      `${APP}/pulls/2/requested_reviewers`,
      `${APP}/issues/2/timeline`,
      '/meta',
    ]) {
      const { status, body } = await ask(host, 'GET', path);
      assert.equal(status, 200, `${path} ${JSON.stringify(body)}`);
    }
    assert.equal((await ask(host, 'GET', `${APP}/assignees/colleague`)).status, 204);
    const said = await ask(host, 'POST', `${APP}/issues/1/comments`, { body: { body: 'hello' } });
    assert.equal(said.status, 201);
    assert.equal(
      (await ask(host, 'PATCH', `${APP}/issues/comments/${said.body.id}`, { body: { body: 'b' } }))
        .status,
      200,
    );
    const replied = await ask(
      host,
      'POST',
      `${APP}/pulls/2/comments/${review.comments[0]}/replies`,
      { body: { body: 'b' } },
    );
    assert.equal(replied.status, 201);
    assert.equal(
      (
        await ask(host, 'POST', `${APP}/pulls/2/requested_reviewers`, {
          body: { reviewers: ['reviewer'] },
        })
      ).status,
      201,
    );
    assert.equal(
      (await ask(host, 'PATCH', `${APP}/pulls/2`, { body: { body: 'new' } })).status,
      200,
    );
    assert.deepEqual(host.findings, []);
  });
  it('gives a pull request the head of the repository', async (t) => {
    const { host, sha, number } = await withPull(t);
    const { body } = await ask(host, 'GET', `${APP}/pulls/${number}`);
    assert.equal(body.head.sha, sha);
  });
});
