import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'graphql';
import {
  classifyRequest,
  type HostRequest,
  WRITES,
} from '../../../../lib/codehost/github/allow-list.ts';
import { MARK_READY, PULL_REQUEST } from '../../../../lib/codehost/github/documents.ts';
import { apiAt } from './fixture.ts';

const PUBLIC = 'https://api.github.com';
const ENTERPRISE = 'https://ghe.example/api/v3';

const asked = (method: string, url: string, more: object = {}, baseUrl = PUBLIC): HostRequest => ({
  method,
  url,
  baseUrl,
  headers: { accept: 'application/json', 'user-agent': 'dossier' },
  request: {},
  mediaType: { format: '', previews: [] },
  ...more,
});

const repo = { owner: 'acme', repo: 'app' };
const one = { ...repo, pull_number: 1 };
const PULLS = '/repos/{owner}/{repo}/pulls';
const RUNS = '/repos/{owner}/{repo}/commits/{ref}/check-runs';
const LOGS = '/repos/{owner}/{repo}/actions/jobs/{job_id}/logs';

const refuses = (given: HostRequest, base = PUBLIC): void => {
  assert.throws(
    () => classifyRequest(given, base),
    /is not on the allow-list of code host requests/,
    JSON.stringify(given),
  );
};

describe('what may be asked', () => {
  it('is every read of the API, the pages that it names, and its own documents', () => {
    const reads: [HostRequest, string][] = [
      [asked('GET', '/repos/{owner}/{repo}', repo), PUBLIC],
      [asked('GET', RUNS, { ...repo, ref: 'a'.repeat(40) }), PUBLIC],
      [asked('GET', LOGS, { ...repo, job_id: 7, request: { redirect: 'manual' } }), PUBLIC],
    ];
    for (const [given, base] of reads) assert.equal(classifyRequest(given, base), 'read');
    const ask = { query: PULL_REQUEST, variables: { owner: 'acme', name: 'app', number: 1 } };
    assert.equal(classifyRequest(asked('POST', '/graphql', ask), PUBLIC), 'read');
    const there = asked('POST', 'https://ghe.example/api/graphql', ask, ENTERPRISE);
    assert.equal(classifyRequest(there, ENTERPRISE), 'read');
  });

  it('is a handful of writes, each with its own fields', () => {
    const pull = { ...repo, title: 'A', body: 'b', head: 'h', base: 'main', draft: true };
    const writes = [
      asked('POST', PULLS, pull),
      asked('PATCH', `${PULLS}/{pull_number}`, { ...one, title: 'B' }),
      asked('POST', '/repos/{owner}/{repo}/issues/{issue_number}/comments', {
        ...repo,
        issue_number: 1,
        body: 'c',
      }),
      asked('POST', '/graphql', { query: MARK_READY, variables: { id: 'PR_1' } }),
    ];
    for (const given of writes) assert.equal(classifyRequest(given, PUBLIC), 'write');
    assert.ok(
      !Object.keys(WRITES).some((route) => /merge|refs|contents|update-branch/.test(route)),
    );
  });
});

const MERGES = [
  'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge',
  'PUT /repos/{owner}/{repo}/pulls/{pull_number}/update-branch',
  'POST /repos/{owner}/{repo}/merges',
  'POST /repos/{owner}/{repo}/merge-upstream',
  'POST /repos/{owner}/{repo}/git/refs',
  'PATCH /repos/{owner}/{repo}/git/refs/{ref}',
  'DELETE /repos/{owner}/{repo}/git/refs/{ref}',
  'PUT /repos/{owner}/{repo}/contents/{path}',
  'PATCH /repos/{owner}/{repo}/issues/{issue_number}',
];

const filled = (template: string): string =>
  template
    .replace('{owner}', 'acme')
    .replace('{repo}', 'app')
    .replace(/\{(pull|issue)_number\}/, '1')
    .replace('{ref}', 'heads/main')
    .replace('{path}', 'a');

describe('what is asked of a commit or a job', () => {
  it('names it in whole, and leads nowhere else', () => {
    for (const ref of ['main', `${'a'.repeat(40)}/../..`, 'a'.repeat(39), 7])
      refuses(asked('GET', RUNS, { ...repo, ref }));
    for (const job_id of ['7', '7/rerun', -1, 1.5])
      refuses(asked('GET', LOGS, { ...repo, job_id }));
    refuses(
      asked('POST', '/repos/{owner}/{repo}/actions/jobs/{job_id}/rerun', { ...repo, job_id: 7 }),
    );
  });
});

describe('a label that is removed', () => {
  it('leads to no other path', () => {
    const url = '/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}';
    const at = { ...repo, issue_number: 1 };
    for (const name of ['a/b', '...'])
      assert.equal(classifyRequest(asked('DELETE', url, { ...at, name }), PUBLIC), 'write');
    for (const name of ['', '.', '..', 7, undefined])
      refuses(asked('DELETE', url, { ...at, name }));
  });
});

describe('what merges, closes or writes content', () => {
  it('is refused as a template, written out, and as a whole address', () => {
    for (const route of MERGES) {
      const [method = '', template = ''] = route.split(' ');
      const parameters = { ...one, issue_number: 1, ref: 'heads/main', path: 'a' };
      refuses(asked(method, template, parameters));
      refuses(asked(method, filled(template)));
      refuses(asked(method, `${PUBLIC}${filled(template)}`));
      refuses(asked(method, `${ENTERPRISE}${filled(template)}`, {}, ENTERPRISE), ENTERPRISE);
      refuses(asked(method.toLowerCase(), template, parameters));
    }
  });

  it('is refused where an allowed write carries more than its own', () => {
    const more = [
      { state: 'closed' },
      { base: 'other' },
      { data: { state: 'closed' } },
      { headers: { 'x-http-method-override': 'PUT' } },
      { pull_number: '1/merge' },
      { repo: '..' },
      { owner: 'acme/app/pulls/1/merge?' },
      { baseUrl: 'https://evil.example' },
    ];
    for (const each of more)
      refuses(asked('PATCH', `${PULLS}/{pull_number}`, { ...one, title: 'B', ...each }));
  });

  it('is refused as any GraphQL that is not ours, word for word', () => {
    const merges = [
      'mutation { mergePullRequest(input: { pullRequestId: "a" }) { clientMutationId } }',
      'mutation { fine: mergePullRequest(input: { pullRequestId: "a" }) { clientMutationId } }',
      'mutation { ...F } fragment F on Mutation { mergePullRequest(input: { pullRequestId: "a" }) { clientMutationId } }',
      'mutation { enablePullRequestAutoMerge(input: { pullRequestId: "a" }) { clientMutationId } }',
      'mutation { enqueuePullRequest(input: { pullRequestId: "a" }) { clientMutationId } }',
      'mutation { mergeBranch(input: { repositoryId: "r", base: "main", head: "x" }) { clientMutationId } }',
      'mutation { closePullRequest(input: { pullRequestId: "a" }) { clientMutationId } }',
      'mutation { updatePullRequestBranch(input: { pullRequestId: "a" }) { clientMutationId } }',
      'mutation { revertPullRequest(input: { pullRequestId: "a" }) { clientMutationId } }',
      `${MARK_READY}\nmutation Other { mergePullRequest(input: { pullRequestId: "a" }) { clientMutationId } }`,
      `${PULL_REQUEST} `,
      '{ viewer { login } }',
    ];
    for (const query of merges) {
      assert.doesNotThrow(() => parse(query));
      refuses(asked('POST', '/graphql', { query }));
    }
    refuses(asked('POST', '/graphql', { query: MARK_READY, operationName: 'MarkReady' }));
    refuses(asked('POST', '/graphql', {}));
  });

  it('is in no library that is installed for asking', () => {
    for (const name of ['core', 'plugin-retry', 'plugin-paginate-graphql'])
      assert.doesNotMatch(source(name), /pulls\/\{pull_number\}\/merge|mergePullRequest/);
  });
});

const source = (name: string): string =>
  readFileSync(new URL(import.meta.resolve(`@octokit/${name}`)), 'utf8');

describe('another server', () => {
  it('is asked nothing, whatever stands before or behind the name of the one that is', () => {
    for (const url of [
      'https://evil.example/repos/acme/app',
      '//evil.example/repos/acme/app',
      'https://api.github.com/repositories/1/issues?page=2',
      'https://api.github.com.evil.example/repos/acme/app',
      'https://api.github.com@evil.example/repos/acme/app',
      'https://token@api.github.com/repos/acme/app',
      'http://api.github.com/repos/acme/app',
      'https://api.github.com:8443/repos/acme/app',
    ])
      refuses(asked('GET', url));
    refuses(asked('GET', 'https://ghe.example/other', {}, ENTERPRISE), ENTERPRISE);
  });
});

describe('the client', () => {
  it('lets nothing of it out, in whatever way Octokit is called', async (t) => {
    const { api, host } = await apiAt(t);
    const attempts = [
      () => api.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', one),
      () => api.request('PUT /repos/acme/app/pulls/1/merge'),
      () => api.request(`PUT ${host.url}/repos/acme/app/pulls/1/merge`),
      () => api.request({ method: 'PUT', url: '/repos/acme/app/pulls/1/merge' }),
      () => api.request.defaults({ method: 'PUT' })('/repos/acme/app/pulls/1/merge'),
      () => api.graphql('mutation { x: mergePullRequest(input: {}) { clientMutationId } }'),
      () => api.graphql.paginate('mutation M { mergePullRequest(input: {}) { clientMutationId } }'),
      () => api.request('GET https://evil.example/'),
    ];
    for (const attempt of attempts)
      await assert.rejects(attempt, /not on the allow-list of code host requests/);
    assert.deepEqual(host.requests, []);
  });
});
