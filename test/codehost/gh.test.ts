import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startCodeHost } from './code-host.ts';
import { ghFor, withoutGh } from './gh.ts';

const READ = ['number', 'title', 'state', 'isDraft', 'headRefName', 'headRefOid', 'baseRefName'];
const MORE = ['author', 'body', 'labels', 'reviews', 'comments', 'reviewDecision', 'mergeable'];
const LISTED = ['statusCheckRollup', 'commits', 'assignees', 'milestone', 'url', 'mergedAt'];

describe('the real gh on the fake host', { skip: withoutGh }, () => {
  it('reads a pull request and marks it ready', async (t) => {
    const host = await startCodeHost(t);
    const sha = await host.repositories.push({ branch: 'work/one' });
    const { number } = await host.pulls.open('work/one', { title: 'One', draft: true });
    await host.repositories.check('work/one', 'build', 'success');
    await host.pulls.review(number, { state: 'CHANGES_REQUESTED', body: 'Not yet.' });
    await host.pulls.comment(number, 'Hello.');
    const gh = ghFor(t, { socket: host.socket, token: host.token });
    assert.equal(JSON.parse(await gh.run(['api', 'user'])).login, 'operator');
    const repo = ['-R', 'acme/app'];
    const fields = [...READ, ...MORE, ...LISTED].join(',');
    const view = async () =>
      JSON.parse(await gh.run(['pr', 'view', String(number), ...repo, '--json', fields]));
    const before = await view();
    assert.equal(before.isDraft, true);
    assert.equal(before.headRefOid, sha);
    assert.equal(before.reviewDecision, 'CHANGES_REQUESTED');
    assert.equal(before.statusCheckRollup[0].conclusion, 'SUCCESS');
    assert.equal(before.comments[0].body, 'Hello.');
    await gh.run(['pr', 'ready', String(number), ...repo]);
    assert.equal((await view()).isDraft, false);
    assert.deepEqual(gh.calls()[0], ['api', 'user']);
    assert.equal(gh.calls().length, 4);
  });

  it('gives the token that it keeps, and says every call', async (t) => {
    const gh = ghFor(t, { token: 'ghp_kept' });
    const args = ['auth', 'token', '--hostname', 'github.com'];
    assert.equal((await gh.run(args)).trim(), 'ghp_kept');
    await assert.rejects(gh.run(['auth', 'token', '--hostname', 'ghe.example']), /no oauth token/);
    const odd = ['api', '/an odd\npath', ''];
    await assert.rejects(gh.run(odd));
    assert.deepEqual(gh.calls(), [args, ['auth', 'token', '--hostname', 'ghe.example'], odd]);
  });

  it('asks an Enterprise server below its prefix', async (t) => {
    const host = await startCodeHost(t, { enterprise: true });
    const { socket, token, host_name } = host;
    const gh = ghFor(t, { socket, token, host: host_name });
    const user = await gh.run(['api', 'user', '--hostname', host_name]);
    assert.equal(JSON.parse(user).login, 'operator');
    assert.deepEqual(
      host.requests.map(({ path }) => path),
      ['/user'],
    );
  });

  it('tells harmless calls from others', async (t) => {
    const gh = ghFor(t, { token: 'ghp_kept' });
    await gh.run(['--version']);
    await gh.run(['auth', 'token', '--hostname', 'github.com']);
    gh.assertHarmless();
    await gh.run(['config', 'list']).catch(() => undefined);
    assert.throws(gh.assertHarmless, /more than its version/);
  });
});
