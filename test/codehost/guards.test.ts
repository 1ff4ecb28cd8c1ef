import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ask, askGraphql } from './ask.ts';
import { startCodeHost } from './code-host.ts';
import { githubSchema } from './graphql/schema.ts';
import { described } from './judge.ts';
import { OPERATIONS } from './operations.ts';
import { MERGING, openTripwire } from './tripwire.ts';

const APP = '/repos/acme/app';

describe('the tripwire', () => {
  const paths = [
    ['PUT', `${APP}/pulls/1/merge`],
    ['PUT', `${APP}/pulls/1/merge/`],
    ['PUT', `${APP}/pulls/1/%6Derge`],
    ['POST', `${APP}/merges`],
    ['POST', `${APP}/merge-upstream`],
    ['PUT', `${APP}/pulls/1/update-branch`],
    ['POST', `${APP}/git/refs`],
    ['PATCH', `${APP}/git/refs/heads/main`],
    ['DELETE', `${APP}/git/refs/heads/main`],
    ['PUT', `${APP}/contents/README.md`],
    ['PUT', '/repositories/1/pulls/1/merge'],
  ] as const;
  for (const [method, path] of paths) {
    it(`knows ${method} ${path}`, () => {
      const tripwire = openTripwire();
      assert.equal(tripwire.trips(method, path, {}), true);
      assert.deepEqual(tripwire.touched, [`${method} ${path}`]);
      assert.throws(tripwire.assertNeverMerged, /asked to merge/);
    });
  }

  const merge = 'mergePullRequest(input: { pullRequestId: "x" }) { clientMutationId }';
  const documents = {
    plain: `mutation { ${merge} }`,
    'under an alias': `mutation { harmless: ${merge} }`,
    'in a fragment': `mutation { ...A } fragment A on Mutation { ...B } fragment B on Mutation { ${merge} }`,
    'in an inline fragment': `mutation { ... on Mutation { ${merge} } }`,
    'beside a harmless operation': `query A { viewer { login } } mutation B { ${merge} }`,
    'in a document that is broken': `mutation { ${merge} `,
  };
  for (const [name, query] of Object.entries(documents)) {
    it(`knows a merging mutation ${name}`, () => {
      const tripwire = openTripwire();
      assert.equal(tripwire.trips('POST', '/graphql', { query, operationName: 'A' }), true);
      assert.deepEqual(tripwire.touched, ['POST /graphql mergePullRequest']);
    });
  }

  it('answers 500 to what it catches, which has no effect', async (t) => {
    const host = await startCodeHost(t, { lenient: true });
    await host.repositories.push({ branch: 'work/one' });
    const { number, node_id } = await host.pulls.open('work/one');
    const path = `${APP}/pulls/${number}/merge`;
    assert.equal((await ask(host, 'PUT', path, { body: {} })).status, 500);
    const query = `mutation { a: mergePullRequest(input: { pullRequestId: "${node_id}" }) { clientMutationId } }`;
    assert.equal((await ask(host, 'POST', '/graphql', { body: { query } })).status, 500);
    assert.equal((await host.pulls.read(number)).merged, false);
    assert.deepEqual(host.tripped, [`PUT ${path}`, 'POST /graphql mergePullRequest']);
  });

  it('knows every mutation of the schema that merges or moves a branch', () => {
    const all = Object.keys(githubSchema().getMutationType()?.getFields() ?? {});
    const suspicious = all.filter((name) =>
      /merge(?!Queue)|enqueue|updatePullRequestBranch|commitOn|revertPull|^(create|update|delete)Refs?$/i.test(
        name,
      ),
    );
    const harmless = new Set(['disablePullRequestAutoMerge']);
    assert.deepEqual(
      suspicious.filter((name) => !MERGING.has(name) && !harmless.has(name)),
      [],
    );
    for (const name of MERGING) assert.ok(all.includes(name), name);
  });

  it('lets reads and the words of a text pass', async (t) => {
    const host = await startCodeHost(t);
    await host.issues.add();
    const body = { body: 'mergePullRequest, /merge' };
    const path = `${APP}/issues/1/comments`;
    assert.equal((await ask(host, 'POST', path, { body })).status, 201);
    await askGraphql(host, '# mergePullRequest\n{ viewer { login } }');
    assert.deepEqual(host.tripped, []);
  });
});

describe('the judge', () => {
  it('has the description of every operation that it is to judge', () => {
    const named = Object.entries(OPERATIONS).flatMap(([path, methods]) =>
      methods.map((method) => `${method} ${path}`),
    );
    assert.deepEqual(described().names.toSorted(), named.toSorted(), 'npm run codehost:schema');
  });

  it('finds a key that GitHub would ignore', async (t) => {
    const host = await startCodeHost(t, { lenient: true });
    await host.repositories.push({ branch: 'work/one' });
    const { number } = await host.pulls.open('work/one', { draft: true });
    const path = `${APP}/pulls/${number}`;
    const { status, body } = await ask(host, 'PATCH', path, { body: { draft: false } });
    assert.equal(status, 200);
    assert.equal(body.draft, true, 'as on GitHub, nothing has changed');
    assert.deepEqual(host.findings, [
      'PATCH /repos/{owner}/{repo}/pulls/{pull_number}: the body has an unknown key draft',
    ]);
  });

  it('finds a query parameter, a type, a missing key and a route that GitHub has not', async (t) => {
    const host = await startCodeHost(t, { lenient: true });
    await host.issues.add();
    await ask(host, 'GET', `${APP}/labels?perpage=5`);
    await ask(host, 'POST', `${APP}/issues/1/comments`, { body: { body: 5 } });
    await ask(host, 'POST', `${APP}/issues/1/comments`, { body: {} });
    await ask(host, 'GET', `${APP}/lables`);
    await ask(host, 'PATCH', `${APP}/issues/1`, { body: { title: 'x' } });
    assert.deepEqual(host.findings, [
      'GET /repos/{owner}/{repo}/labels: it takes no query parameter perpage',
      'POST /repos/{owner}/{repo}/issues/{issue_number}/comments: /body must be string',
      'POST /repos/{owner}/{repo}/issues/{issue_number}/comments: the body lacks body',
      `GET ${APP}/lables: GitHub describes no such operation for us`,
      `PATCH ${APP}/issues/1: GitHub describes no such operation for us`,
    ]);
  });
});
