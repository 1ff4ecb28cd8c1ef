import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { permitted } from '../../../../lib/codehost/github/repository.ts';
import { clientOf, refusal, startAsking } from './fixture.ts';

for (const enterprise of [false, true]) {
  describe(`what is read on ${enterprise ? 'an Enterprise server' : 'github.com'}`, () => {
    it('is the repository, the user, the issues and what belongs to them', async (t) => {
      const { host, hosted, client } = await startAsking(t, { enterprise });
      const wanted = { labels: ['bug'], milestone: 'v1', assignees: ['operator'] };
      const comments = ['First.', 'Second.'];
      const { number } = await host.issues.add({
        title: 'Broken',
        body: 'It is',
        comments,
        ...wanted,
      });
      await host.repositories.push({ branch: 'work/one' });
      const pull = await host.pulls.open('work/one', { title: 'Mends it' });
      host.pulls.link(pull.number, number);

      const user = await client.me(host.host_name);
      assert.equal(user.login, 'operator');
      const meta = await hosted.meta();
      assert.deepEqual([meta.full_name, meta.default_branch], ['acme/app', 'main']);
      assert.ok((await hosted.labels()).some(({ name }) => name === 'bug'));
      assert.deepEqual(
        (await hosted.milestones()).map(({ title, state }) => [title, state]),
        [['v1', 'open']],
      );
      assert.ok((await hosted.assignees()).some(({ login }) => login === 'operator'));
      assert.equal(await hosted.countOpenIssues(), 1);

      const issue = await hosted.issue(number);
      assert.equal(issue.title, 'Broken');
      assert.deepEqual([issue.labels, issue.milestone], [['bug'], 'v1']);
      assert.deepEqual([issue.assignees, issue.author], [['operator'], 'colleague']);
      assert.deepEqual(
        (await hosted.issueComments(number)).map(({ body }) => body),
        comments,
      );
      const several = await hosted.issuesByNumber([number]);
      assert.deepEqual(several.get(number), issue);
      assert.deepEqual(
        (await hosted.linkedPulls(number)).map((each) => [each.number, each.state, each.relation]),
        [[pull.number, 'open', 'closes']],
      );
    });
  });
}

describe('the requests', () => {
  it('say which version of the API is meant, who asks, and nothing of the token but in its header', async (t) => {
    const { host, hosted } = await startAsking(t);
    await hosted.meta();
    await hosted.countOpenIssues();
    for (const { headers, path, query, body } of host.requests) {
      assert.equal(headers['x-github-api-version'], '2022-11-28');
      assert.match(headers['user-agent'] ?? '', /^dossier\/0\.0\.0 /);
      assert.doesNotMatch(JSON.stringify({ headers, path, query, body }), new RegExp(host.token));
    }
    assert.equal(host.requests.length, 2);
  });
});

describe('issues', () => {
  it('come page by page without pull requests, and never an empty page before the end', async (t) => {
    const { host, hosted } = await startAsking(t);
    const numbers = await host.issues.addMany(2);
    for (const branch of ['a', 'b', 'c', 'd']) {
      await host.repositories.push({ branch });
      await host.pulls.open(branch);
    }
    const more = await host.issues.addMany(1);
    const seen: number[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 10; pages += 1) {
      const page = await hosted.issues({ limit: 2, ...(cursor !== undefined && { cursor }) });
      assert.ok(page.issues.length > 0);
      seen.push(...page.issues.map(({ number }) => number));
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    assert.deepEqual(
      seen.toSorted((a, b) => a - b),
      [...numbers, ...more],
    );
  });

  it('are found by labels, by a milestone as people call it, by state', async (t) => {
    const { host, hosted } = await startAsking(t);
    const bug = await host.issues.add({ title: 'A bug', labels: ['bug'], milestone: 'v1' });
    const done = await host.issues.add({ title: 'Done' });
    await host.issues.edit(done.number, { state: 'closed' });
    const found = async (filter: Parameters<typeof hosted.issues>[0]) =>
      (await hosted.issues(filter)).issues.map(({ number }) => number);
    assert.deepEqual(await found({ labels: ['bug'] }), [bug.number]);
    assert.deepEqual(await found({ milestone: 'v1' }), [bug.number]);
    assert.deepEqual(await found({ state: 'closed' }), [done.number]);
    assert.deepEqual(
      [
        (await refusal(found({ milestone: 'v9' }))).code,
        (await refusal(found({ cursor: '!' }))).code,
      ],
      ['bad_request', 'bad_request'],
    );
  });

  it('come whole, however many there are', async (t) => {
    const { host, hosted } = await startAsking(t);
    const numbers = await host.issues.addMany(52);
    const found = await hosted.issuesByNumber([...numbers, ...numbers, 999]);
    assert.deepEqual([...found.keys()], [...numbers, 999]);
    assert.deepEqual(found.get(999), { missing: 'deleted' });
    assert.ok(numbers.every((number) => 'title' in (found.get(number) ?? {})));
    assert.equal(host.requests.filter(({ path }) => path === '/graphql').length, 2);
    const [first = 0] = numbers;
    for (let n = 0; n < 101; n += 1) await host.issues.comment(first, `${n}`);
    const comments = await hosted.issueComments(first);
    assert.deepEqual(
      comments.map(({ body }) => body),
      Array.from({ length: 101 }, (_, n) => `${n}`),
    );
  });

  it('that were moved or deleted say so, one by one and in a batch', async (t) => {
    const { host, hosted } = await startAsking(t, { repositories: ['acme/other'] });
    const [stays = 0, goes = 0, moves = 0] = await host.issues.addMany(3);
    host.issues.remove(goes);
    const there = await host.issues.transfer(moves, 'acme/other');
    const url = `https://github.com/acme/other/issues/${there}`;
    const gone = await refusal(hosted.issue(goes));
    assert.deepEqual([gone.code, gone.members.moved_to], ['codehost_gone', null]);
    const moved = await refusal(hosted.issue(moves));
    assert.deepEqual([moved.code, moved.members.moved_to], ['codehost_gone', url]);
    const found = await hosted.issuesByNumber([stays, goes, moves]);
    assert.ok('title' in (found.get(stays) ?? {}));
    assert.deepEqual(found.get(goes), { missing: 'deleted' });
    assert.deepEqual(found.get(moves), { missing: 'moved', url });
  });

  it('are not pull requests', async (t) => {
    const { host, hosted } = await startAsking(t);
    await host.repositories.push({ branch: 'work/one' });
    const { number } = await host.pulls.open('work/one');
    assert.equal((await refusal(hosted.issue(number))).code, 'codehost_not_found');
  });

  it('tell which pull request only mentions them', async (t) => {
    const { host, hosted } = await startAsking(t);
    const { number } = await host.issues.add();
    for (const branch of ['a', 'b']) await host.repositories.push({ branch });
    const closes = await host.pulls.open('a', { draft: true });
    const mentions = await host.pulls.open('b');
    host.pulls.link(closes.number, number);
    host.issues.mention(number, closes.number);
    host.issues.mention(number, mentions.number);
    assert.deepEqual(
      (await hosted.linkedPulls(number)).map((each) => [each.number, each.state, each.relation]),
      [
        [closes.number, 'draft', 'closes'],
        [mentions.number, 'open', 'mentions'],
      ],
    );
  });
});

describe('a repository that was renamed', () => {
  it('is read where it is now, and says so; nothing is written by the old name', async (t) => {
    const { host, hosted } = await startAsking(t);
    const { number } = await host.issues.add({ title: 'Old' });
    await host.repositories.rename('acme/new');
    assert.equal((await hosted.validate()).renamed_to, 'acme/new');
    assert.equal((await hosted.issue(number)).title, 'Old');
    const refused = await refusal(
      hosted.createPull({ title: 'A', body: '', head: 'main', base: 'main', draft: true }),
    );
    assert.equal(refused.code, 'codehost_gone');
    assert.match(String(refused.members.moved_to), /\/repositories\/\d+\/pulls$/);
    assert.equal(host.writes().length, 1);
  });

  it('is asked for its name once for issues that are read one by one', async (t) => {
    const { host, hosted } = await startAsking(t);
    const { number } = await host.issues.add({ title: 'One' });
    await host.repositories.rename('acme/new');
    host.requests.length = 0;
    for (const _ of [1, 2]) assert.equal((await hosted.issue(number)).title, 'One');
    const names = host.requests.filter(({ path }) => path === '/repos/acme/app');
    assert.equal(names.length, 1);
  });

  it('has its issues together in one request', async (t) => {
    const { host, hosted } = await startAsking(t);
    const first = await host.issues.add({ title: 'One' });
    const second = await host.issues.add({ title: 'Two' });
    await host.repositories.rename('acme/new');
    host.requests.length = 0;
    const found = await hosted.issuesByNumber([first.number, second.number]);
    assert.deepEqual(
      [...found.values()].map((one) => 'title' in one && one.title),
      ['One', 'Two'],
    );
    assert.deepEqual(
      host.requests.map(({ path }) => path),
      ['/graphql'],
    );
  });
});

describe('validate', () => {
  it('sees a public repository without a token, and asks for one to see what is hidden', async (t) => {
    const { host, hosted } = await startAsking(t, { env: { GH_TOKEN: '' } });
    assert.deepEqual(await hosted.validate(), {
      accessible: true,
      anonymous: true,
      renamed_to: null,
      archived: false,
      fork: false,
      parent: null,
    });
    assert.equal((await refusal(hosted.meta())).code, 'codehost_auth_missing');
    const none = clientOf(host, { env: { GH_TOKEN: '' } }).client.repository({
      host: 'github.com',
      owner: 'acme',
      name: 'none',
    });
    assert.equal((await refusal(none.validate())).code, 'codehost_auth_missing');
  });

  it('answers that it cannot be seen, for private ones look like none', async (t) => {
    const { host } = await startAsking(t, { private: true });
    const token = host.addToken({ login: 'stranger' });
    const { hosted } = clientOf(host, { env: { GH_TOKEN: token } });
    const { accessible, reason = '' } = await hosted.validate();
    assert.equal(accessible, false);
    assert.match(reason, /It may be private/);
  });
});

describe('permissions', () => {
  it('are yes or no where a classic token tells, and unknown where a fine-grained one does not', async (t) => {
    const { host, hosted } = await startAsking(t, { role: 'write' });
    const { role, capabilities } = await hosted.permissions();
    assert.equal(role, 'write');
    assert.deepEqual(capabilities, {
      read: 'yes',
      open_pull_requests: 'yes',
      push: 'yes',
      triage_issues: 'yes',
      resolve_threads: 'yes',
    });
    const token = host.addToken({ scopes: null });
    const fine = clientOf(host, { env: { GH_TOKEN: token } }).hosted;
    assert.equal((await fine.permissions()).capabilities.push, 'unknown');
  });

  it('of a reader are those of a reader, whatever the token may', () => {
    const rights = { admin: false, maintain: false, push: false, triage: false, pull: true };
    const told = permitted({ permissions: rights, private: false }, ['public_repo']);
    assert.deepEqual([told.role, told.capabilities.push], ['read', 'no']);
    assert.equal(told.capabilities.open_pull_requests, 'yes');
    const hidden = permitted({ permissions: rights, private: true }, ['public_repo']);
    assert.equal(hidden.capabilities.open_pull_requests, 'no');
  });

  it('name where to sign on, for an organisation that asks for it', async (t) => {
    const { host, hosted } = await startAsking(t);
    host.fail('sso', { path: '/repos/acme/app' });
    const { capabilities, sso_url = '' } = await hosted.permissions();
    assert.equal(capabilities.read, 'no');
    assert.match(sso_url, /^https:\/\/github\.com\/orgs\/acme\/sso/);
  });
});
