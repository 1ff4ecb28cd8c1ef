import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { asyncGit } from '../helpers/git-workspace.ts';
import { ask } from './ask.ts';
import { startCodeHost } from './code-host.ts';

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
    const sha = await host.repositories.headOf('work/one');
    const run = await host.repositories.check('work/one', 'build', 'success', {
      job: { steps: [], log: 404 },
    });
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
      `${APP}/actions/jobs/${run}`,
      `${APP}/actions/runs?head_sha=${sha}`,
      `${APP}/actions/runs/${run}/jobs`,
      `${APP}/assignees`,
      `${APP}/branches`,
      `${APP}/branches/work/one`,
      `${APP}/check-runs/${run}/annotations`,
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

  it('gives a pull request the head of the repository, pushed with the token over HTTP', async (t) => {
    const { host, sha, number } = await withPull(t);
    const path = `${APP}/pulls/${number}`;
    assert.equal((await ask(host, 'GET', path)).body.head.sha, sha);
    const { root, git } = host.repositories.clone();
    git('checkout', '--quiet', '-B', 'work/one', sha);
    git('commit', '--quiet', '--allow-empty', '-m', 'more');
    await asyncGit(root)('push', '--quiet', 'origin', 'HEAD:work/one');
    const { body } = await ask(host, 'GET', path);
    assert.equal(body.head.sha, git('rev-parse', 'HEAD').trim());
    assert.equal(body.commits, 2);
    host.pulls.setStaleHead(number, sha);
    assert.equal((await ask(host, 'GET', path)).body.head.sha, sha);
  });

  it('takes no other password for git', async (t) => {
    const host = await startCodeHost(t);
    const clone = host.repositories.clone();
    const elsewhere = host.gitUrl('acme', 'app').replace('://', '://somebody:wrong@');
    await assert.rejects(
      asyncGit(clone.root)('push', elsewhere, 'HEAD:x'),
      /Authentication failed/,
    );
  });

  it('opens no pull request for a branch that is not there, is nothing new, or has one', async (t) => {
    const { host } = await withPull(t);
    const create = (head: string, base = 'main') =>
      ask(host, 'POST', `${APP}/pulls`, { body: { title: 'Two', head, base } });
    const none = await create('work/none');
    assert.equal(none.status, 422);
    assert.deepEqual(none.body.errors, [
      { resource: 'PullRequest', field: 'head', code: 'invalid' },
    ]);
    assert.equal((await create('work/one', 'none')).body.errors[0].field, 'base');
    const again = await create('acme:work/one');
    assert.equal(again.status, 422);
    assert.match(again.body.errors[0].message, /already exists for acme:work\/one/);
    await host.repositories.push({ branch: 'work/two' });
    const same = await create('work/two', 'work/two');
    assert.match(same.body.errors[0].message, /No commits between/);
  });

  it('opens one for the branch of a fork', async (t) => {
    const host = await startCodeHost(t);
    const fork = await host.repositories.fork('operator');
    await host.repositories.push({ branch: 'theirs', repository: 'operator/app' });
    const body = { title: 'One', head: 'operator:theirs', base: 'main' };
    const made = await ask(host, 'POST', `${APP}/pulls`, { body });
    assert.equal(made.status, 201);
    assert.equal(made.body.head.sha, fork.git('rev-parse', 'theirs').trim());
    assert.equal(made.body.head.repo.full_name, 'operator/app');
    const repository = await ask(host, 'GET', '/repos/operator/app');
    assert.equal(repository.body.parent.full_name, 'acme/app');
  });

  it('knows its tokens, and tells what each may', async (t) => {
    const host = await startCodeHost(t);
    const own = await ask(host, 'GET', '/user');
    assert.equal(own.headers.get('x-oauth-scopes'), 'repo, read:org, gist');
    const fine = host.addToken({ scopes: null, expires: '2030-01-01 00:00:00 UTC' });
    const { headers } = await ask(host, 'GET', '/user', { token: fine });
    assert.equal(headers.get('x-oauth-scopes'), null);
    assert.match(headers.get('github-authentication-token-expiration') ?? '', /^2030/);
    const unknown = await ask(host, 'GET', '/user', { token: 'ghp_unknown' });
    assert.equal(unknown.status, 401);
    assert.equal(unknown.body.message, 'Bad credentials');
    assert.match(unknown.headers.get('x-github-request-id') ?? '', /.+/);
    host.revoke(fine);
    assert.equal((await ask(host, 'GET', '/user', { token: fine })).status, 401);
    assert.equal((await ask(host, 'GET', APP, { token: null })).status, 200);
    assert.equal((await ask(host, 'GET', '/user', { token: null })).status, 401);
    assert.doesNotMatch(JSON.stringify(host.requests), new RegExp(`${host.token}|${fine}`));
  });

  it('hides a private repository from a stranger, and from nobody else', async (t) => {
    const host = await startCodeHost(t, { private: true });
    const stranger = host.addToken({ login: 'stranger' });
    for (const path of [APP, `${APP}/issues`, `${APP}/pulls`]) {
      assert.equal((await ask(host, 'GET', path, { token: stranger })).status, 404);
      assert.equal((await ask(host, 'GET', path, { token: null })).status, 404);
      assert.equal((await ask(host, 'GET', path)).status, 200);
    }
  });

  it('answers 304 to who has it already, and 200 once it is another', async (t) => {
    const host = await startCodeHost(t);
    const { number } = await host.issues.add();
    const path = `${APP}/issues/${number}`;
    const etag = (await ask(host, 'GET', path)).headers.get('etag') ?? '';
    const again = () => ask(host, 'GET', path, { headers: { 'if-none-match': etag } });
    assert.equal((await again()).status, 304);
    await host.issues.edit(number, { title: 'Another' });
    assert.equal((await again()).status, 200);
  });

  it('redirects whoever knows the old name of a repository', async (t) => {
    const host = await startCodeHost(t);
    await host.issues.add({ title: 'Here' });
    await host.repositories.rename('acme/application');
    const { status, headers } = await ask(host, 'GET', `${APP}/issues/1`);
    assert.equal(status, 301);
    const to = (headers.get('location') ?? '').replace(host.url, '');
    assert.match(to, /^\/repositories\/\d+\/issues\/1$/);
    assert.equal((await ask(host, 'GET', to)).body.title, 'Here');
    const write = await ask(host, 'POST', `${APP}/issues/1/comments`, { body: { body: 'b' } });
    assert.equal(write.status, 307);
    assert.equal((await host.issues.comments(1)).length, 0);
    const { root } = host.repositories.clone();
    await asyncGit(root)(
      'fetch',
      '--quiet',
      `${host.gitUrl('acme', 'app').replace('://', `://x:${host.token}@`)}`,
    );
  });

  it('tells of an issue that moved or was deleted', async (t) => {
    const host = await startCodeHost(t, { repositories: ['acme/other'] });
    await host.issues.addMany(2);
    await host.issues.transfer(1, 'acme/other');
    host.issues.remove(2);
    const moved = await ask(host, 'GET', `${APP}/issues/1`);
    assert.equal(moved.status, 301);
    const to = (moved.headers.get('location') ?? '').replace(host.url, '');
    assert.equal((await ask(host, 'GET', to)).body.title, 'Issue 1');
    assert.equal((await ask(host, 'GET', `${APP}/issues/2`)).status, 410);
  });

  it('lists pull requests among the issues, and pages through them', async (t) => {
    const { host } = await withPull(t);
    await host.issues.addMany(4);
    const numbers: number[] = [];
    for (let path = `${APP}/issues?per_page=2&direction=asc`; path !== ''; ) {
      const { body, headers } = await ask(host, 'GET', path);
      numbers.push(...body.map((each: { number: number }) => each.number));
      const [, next = ''] = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
      path = next.replace(host.url, '');
    }
    assert.deepEqual(numbers, [1, 2, 3, 4, 5]);
    const first = await ask(host, 'GET', `${APP}/issues/1`);
    assert.match(first.body.pull_request.html_url, /^https:\/\/github.com\/acme\/app\/pull\/1$/);
  });

  it('is merged by a human, in the repository too', async (t) => {
    const { host, sha, number } = await withPull(t);
    const commit = await host.pulls.merge(number);
    assert.equal(await host.repositories.headOf('main'), commit);
    const { body } = await ask(host, 'GET', `${APP}/pulls/${number}`);
    assert.equal(body.merged, true);
    assert.equal(body.state, 'closed');
    assert.equal(body.merge_commit_sha, commit);
    assert.equal(body.head.sha, sha);
    await host.repositories.push({ branch: 'work/one' });
    assert.equal((await ask(host, 'GET', `${APP}/pulls/${number}`)).body.head.sha, sha);
  });

  it('has its API below a prefix on an Enterprise server', async (t) => {
    const host = await startCodeHost(t, { enterprise: true });
    assert.match(host.url, /\/api\/v3$/);
    assert.equal((await ask(host, 'GET', '/user')).body.login, 'operator');
    const root = { ...host, url: host.url.replace('/api/v3', '') };
    const body = { query: '{ viewer { login } }' };
    const told = await ask(root, 'POST', '/api/graphql', { body });
    assert.equal(told.body.data.viewer.login, 'operator');
    const { body: repository } = await ask(host, 'GET', APP);
    assert.equal(repository.html_url, 'https://ghe.example/acme/app');
    assert.equal(repository.url, `${host.url}${APP}`);
  });

  it('counts what is asked of it', async (t) => {
    const host = await startCodeHost(t);
    host.setRate({ remaining: 10 });
    const { headers } = await ask(host, 'GET', '/user');
    assert.equal(headers.get('x-ratelimit-remaining'), '9');
    const { body } = await ask(host, 'GET', '/rate_limit');
    assert.equal(body.resources.core.limit, 5000);
    assert.deepEqual(
      host.requests.map(({ method, route, status }) => ({ method, route, status })),
      [
        { method: 'GET', route: '/user', status: 200 },
        { method: 'GET', route: '/rate_limit', status: 200 },
      ],
    );
  });

  it('refuses what is too long, and every write to an archived repository', async (t) => {
    const { host, number } = await withPull(t);
    const path = `${APP}/pulls/${number}`;
    const long = await ask(host, 'PATCH', path, { body: { body: 'x'.repeat(65_537) } });
    assert.equal(long.status, 422);
    assert.match(long.body.errors[0].message, /too long \(maximum is 65536/);
    await host.repositories.archive();
    const { status, body } = await ask(host, 'PATCH', path, { body: { body: 'x' } });
    assert.equal(status, 403);
    assert.match(body.message, /archived/);
  });

  it('remembers under its new name what was merged under the old', async (t) => {
    const { host, sha, number } = await withPull(t);
    const commit = await host.pulls.merge(number);
    await host.repositories.rename('acme/application');
    const { body } = await ask(host, 'GET', `/repos/acme/application/pulls/${number}`);
    assert.deepEqual([body.merge_commit_sha, body.head.sha], [commit, sha]);
  });

  it('labels a pull request for who may', async (t) => {
    const { host, number } = await withPull(t);
    const label = () =>
      ask(host, 'POST', `${APP}/issues/${number}/labels`, { body: { labels: ['bug'] } });
    host.repositories.setRole('operator', 'read');
    assert.equal((await label()).status, 403);
    host.repositories.setRole('operator', 'triage');
    assert.equal((await label()).body[0].name, 'bug');
    const { body } = await ask(host, 'GET', `${APP}/issues?labels=bug`);
    assert.equal(body[0].number, number);
  });

  it('is gone when it is stopped', async (t) => {
    const host = await startCodeHost(t);
    await host.stop();
    await assert.rejects(ask(host, 'GET', '/user'));
  });
});
