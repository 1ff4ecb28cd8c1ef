import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { askGraphql as ask } from './ask.ts';
import { startCodeHost } from './code-host.ts';

const within = (fields: string): string =>
  `{ repository(owner: "acme", name: "app") { ${fields} } }`;

const withPull = async (t: TestContext, options = {}) => {
  const host = await startCodeHost(t, options);
  await host.issues.add({ title: 'Broken', labels: ['bug'], assignees: ['colleague'] });
  const sha = await host.repositories.push({ branch: 'work/one' });
  const { number } = await host.pulls.open('work/one', { body: 'Fixes #1', draft: true });
  return { host, sha, number };
};

describe('POST /graphql of the fake host', () => {
  it('tells who asks, and what the repository is to them', async (t) => {
    const host = await startCodeHost(t, { role: 'triage', private: true });
    await host.issues.addMany(3);
    const { data } = await ask(
      host,
      `{ viewer { login } ${within('viewerPermission isPrivate issues(states: OPEN) { totalCount } assignableUsers(first: 9) { nodes { login } }').slice(1)}`,
    );
    assert.equal(data.viewer.login, 'operator');
    assert.equal(data.repository.viewerPermission, 'TRIAGE');
    assert.equal(data.repository.issues.totalCount, 3);
    const users = data.repository.assignableUsers.nodes.map(
      ({ login }: { login: string }) => login,
    );
    assert.deepEqual(users, ['operator', 'colleague', 'reviewer']);
  });

  it('reads issues by number under aliases, and says which is not there', async (t) => {
    const { host } = await withPull(t);
    const fields =
      '{ title labels(first: 5) { nodes { name } } assignees(first: 5) { nodes { login } } }';
    const asked = within(`a: issue(number: 1) ${fields} b: issue(number: 99) ${fields}`);
    const { data, errors } = await ask(host, asked);
    assert.equal(data.repository.a.title, 'Broken');
    assert.equal(data.repository.a.labels.nodes[0].name, 'bug');
    assert.equal(data.repository.b, null);
    assert.deepEqual(
      errors?.map(({ type, path }: { type: string; path: string[] }) => ({ type, path })),
      [{ type: 'NOT_FOUND', path: ['repository', 'b'] }],
    );
  });

  it('pages, and refuses a list without a size', async (t) => {
    const host = await startCodeHost(t);
    await host.issues.addMany(5);
    const asked =
      'issues(first: 2, after: $cursor) { nodes { number } pageInfo { hasNextPage endCursor } }';
    const document = `query ($cursor: String) { repository(owner: "acme", name: "app") { ${asked} } }`;
    const numbers: number[] = [];
    for (let cursor: string | null = null; ; ) {
      const { data } = await ask(host, document, { cursor });
      const { nodes, pageInfo } = data.repository.issues;
      numbers.push(...nodes.map((each: { number: number }) => each.number));
      if (!pageInfo.hasNextPage) break;
      cursor = pageInfo.endCursor;
    }
    assert.deepEqual(numbers, [1, 2, 3, 4, 5]);
    const { errors } = await ask(host, within('issues { nodes { number } }'));
    assert.equal(errors?.[0]?.type, 'MISSING_PAGINATION_BOUNDARIES');
  });

  it('tells of a pull request with the head that was pushed, its checks and its reviews', async (t) => {
    const { host, sha, number } = await withPull(t);
    const fields = `pullRequest(number: ${number}) { isDraft state merged headRefOid mergeable reviewDecision
      statusCheckRollup { state contexts(first: 9) { nodes { __typename ... on CheckRun { name } ... on StatusContext { context } } } }
      commits(last: 1) { nodes { commit { oid statusCheckRollup { state } } } }
      closingIssuesReferences(first: 9) { nodes { number } } }`;
    const before = (await ask(host, within(fields))).data.repository.pullRequest;
    assert.equal(before.headRefOid, sha);
    assert.equal(before.statusCheckRollup, null);
    assert.equal(before.reviewDecision, 'REVIEW_REQUIRED');
    assert.deepEqual(before.closingIssuesReferences.nodes, [{ number: 1 }]);
    await host.repositories.check('work/one', 'build', 'success');
    await host.repositories.status('work/one', 'ci', 'pending');
    await host.pulls.review(number, { state: 'APPROVED', by: 'reviewer' });
    host.pulls.setMergeable(number, null);
    const after = (await ask(host, within(fields))).data.repository.pullRequest;
    assert.equal(after.statusCheckRollup.state, 'PENDING');
    assert.deepEqual(
      after.statusCheckRollup.contexts.nodes.map((each: { __typename: string }) => each.__typename),
      ['CheckRun', 'StatusContext'],
    );
    assert.equal(after.commits.nodes[0].commit.statusCheckRollup.state, 'PENDING');
    assert.equal(after.mergeable, 'UNKNOWN');
    assert.equal(after.reviewDecision, 'APPROVED');
  });

  it('makes threads of comments on lines, with their answers, and resolves them', async (t) => {
    const { host, number } = await withPull(t);
    const line = { path: 'colleague.md', line: 1, body: 'Why?' };
    const { threads, comments } = await host.pulls.review(number, { comments: [line, line] });
    await host.pulls.reply(number, comments[0]!, 'Because.');
    const fields = `pullRequest(number: ${number}) { reviewThreads(first: 9) { nodes {
      id isResolved isOutdated path line comments(first: 9) { nodes { id body author { login } } } } } }`;
    const read = async () =>
      (await ask(host, within(fields))).data.repository.pullRequest.reviewThreads.nodes;
    const [first, second] = await read();
    assert.equal(first.id, threads[0]);
    assert.equal(first.line, 1);
    assert.deepEqual(
      first.comments.nodes.map(({ body }: { body: string }) => body),
      ['Why?', 'Because.'],
    );
    assert.equal(second.comments.nodes.length, 1);
    const done = await ask(
      host,
      'mutation ($id: ID!) { resolveReviewThread(input: { threadId: $id }) { thread { id isResolved } } }',
      { id: threads[0] },
    );
    assert.deepEqual(done.data.resolveReviewThread.thread, { id: threads[0], isResolved: true });
    assert.equal((await read())[0].isResolved, true);
    assert.equal(host.pulls.isResolved(threads[0]!), true);
    await ask(
      host,
      'mutation ($id: ID!) { addPullRequestReviewThreadReply(input: { pullRequestReviewThreadId: $id, body: "Third." }) { comment { body } } unresolveReviewThread(input: { threadId: $id }) { thread { isResolved } } }',
      { id: threads[0] },
    );
    const rest = `query ($id: ID!) { node(id: $id) { ... on PullRequestReviewThread { isResolved comments(last: 1) { nodes { body } } } } }`;
    const { data } = await ask(host, rest, { id: threads[0] });
    assert.deepEqual(data.node, { isResolved: false, comments: { nodes: [{ body: 'Third.' }] } });
  });

  it('ends a draft, and lets nobody resolve who may not write', async (t) => {
    const { host, number } = await withPull(t, { role: 'read' });
    const { threads } = await host.pulls.review(number, {
      comments: [{ path: 'a', line: 1, body: 'b' }],
    });
    const resolve =
      'mutation ($id: ID!) { resolveReviewThread(input: { threadId: $id }) { thread { id } } }';
    assert.equal((await ask(host, resolve, { id: threads[0] })).errors?.[0]?.type, 'FORBIDDEN');
    host.repositories.setRole('operator', 'write');
    const { node_id } = await host.pulls.read(number);
    const ready =
      'mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { isDraft } } }';
    const { data } = await ask(host, ready, { id: node_id });
    assert.equal(data.markPullRequestReadyForReview.pullRequest.isDraft, false);
    assert.equal((await host.pulls.read(number)).draft, false);
  });

  it('tells what has happened, and which pull requests close or mention an issue', async (t) => {
    const { host, number } = await withPull(t);
    await host.pulls.ready(number);
    await host.pulls.edit(number, { title: 'Renamed' });
    await host.pulls.review(number, { state: 'APPROVED' });
    await host.pulls.merge(number);
    const events = `pullRequest(number: ${number}) { timelineItems(first: 50, itemTypes: [READY_FOR_REVIEW_EVENT,
      PULL_REQUEST_COMMIT, PULL_REQUEST_REVIEW, MERGED_EVENT, RENAMED_TITLE_EVENT]) { nodes { __typename } } }`;
    const { data } = await ask(host, within(events));
    const kinds = data.repository.pullRequest.timelineItems.nodes.map(
      (each: { __typename: string }) => each.__typename,
    );
    assert.deepEqual(kinds.toSorted(), [
      ...['MergedEvent', 'PullRequestCommit', 'PullRequestReview', 'ReadyForReviewEvent'],
      'RenamedTitleEvent',
    ]);
    const linked = `issue(number: 1) {
      open: closedByPullRequestsReferences(first: 9) { nodes { number } }
      all: closedByPullRequestsReferences(first: 9, includeClosedPrs: true) { nodes { number state } }
      timelineItems(first: 9, itemTypes: [CROSS_REFERENCED_EVENT]) { nodes { ... on CrossReferencedEvent { willCloseTarget source { ... on PullRequest { number } } } } } }`;
    const { issue } = (await ask(host, within(linked))).data.repository;
    assert.deepEqual(issue.open.nodes, []);
    assert.deepEqual(issue.all.nodes, [{ number, state: 'MERGED' }]);
    assert.deepEqual(issue.timelineItems.nodes, [{ willCloseTarget: true, source: { number } }]);
  });

  it('finds a document that GitHub would not take', async (t) => {
    const host = await startCodeHost(t, { lenient: true });
    const { errors } = await ask(host, within('noSuchField'));
    assert.match(errors?.[0]?.message ?? '', /noSuchField/);
    assert.match(host.findings.join(), /GraphQL: Cannot query field "noSuchField"/);
  });
});
