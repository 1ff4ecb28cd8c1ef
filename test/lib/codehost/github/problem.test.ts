import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Failure, RequestContext } from '../../../../lib/codehost/github/failure.ts';
import { problemFrom } from '../../../../lib/codehost/github/problem.ts';
import type { ErrorCode } from '../../../../lib/errors.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
const RESET = String(NOW.getTime() / 1000 + 90);
const ID = { 'x-github-request-id': 'ABCD' };
const HTML = '<html><body>Log in</body></html>';

const QUESTION: RequestContext = {
  host: 'github.com',
  base: 'https://api.github.com',
  about: 'acme/app#7',
  write: false,
  source: 'GH_TOKEN',
};

const answer = (status: number, headers: object = ID, body: unknown = { message: 'So it is' }) =>
  ({ kind: 'answer', status, headers: headers as Record<string, string>, body }) as const;

const errors = (type: string, message = 'So it is', headers: object = ID) =>
  ({
    kind: 'errors',
    errors: [{ type, message }],
    headers: headers as Record<string, string>,
  }) as const;

const broken = (code: string) =>
  ({
    kind: 'unreachable',
    cause: new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) }),
  }) as const;

interface Row {
  what: string;
  failure: Failure;
  code: ErrorCode;
  /** Of the problem's members. */
  members?: Record<string, unknown>;
  says?: RegExp;
  question?: Partial<RequestContext>;
  retry_after?: string;
}

const limit = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': RESET };

const ROWS: Row[] = [
  {
    what: 'a 401 of GitHub',
    failure: answer(401),
    code: 'codehost_auth_invalid',
    members: { token_source: 'GH_TOKEN' },
    says: /GH_TOKEN \(So it is\)\. Start the daemon with another GH_TOKEN/,
  },
  {
    what: 'a 404 of GraphQL, which is of its address',
    failure: answer(404),
    question: { graphql: 'https://ghe.example/x/graphql' },
    code: 'codehost_not_found',
    says: /^https:\/\/ghe\.example\/x\/graphql does not exist.*api_url/,
  },
  {
    what: 'a 401 of GitHub for the token of gh',
    failure: answer(401),
    question: { source: 'gh' },
    code: 'codehost_auth_invalid',
    says: /gh auth login --hostname github\.com/,
  },
  {
    what: 'a 401 without a token',
    failure: answer(401),
    question: { source: null },
    code: 'codehost_auth_missing',
    says: /gh auth login --hostname github\.com/,
  },
  { what: "a proxy's 401", failure: answer(401, {}, HTML), code: 'codehost_gateway' },
  { what: "a proxy's 401 in JSON", failure: answer(401, {}), code: 'codehost_gateway' },
  { what: "a proxy's 407", failure: answer(407, {}, HTML), code: 'codehost_gateway' },
  { what: "a proxy's 403", failure: answer(403, {}, HTML), code: 'codehost_gateway' },
  { what: 'a page with 200', failure: answer(200, {}, HTML), code: 'codehost_gateway' },
  { what: 'a page of GitHub with 200', failure: answer(200, ID, HTML), code: 'codehost_gateway' },
  {
    what: 'a page with 200 in answer to a write',
    failure: answer(200, {}, HTML),
    question: { write: true },
    code: 'codehost_gateway',
    members: { outcome: 'unknown' },
  },
  {
    what: 'single sign-on',
    failure: answer(403, { ...ID, 'x-github-sso': 'required; url=https://github.com/orgs/a/sso' }),
    code: 'codehost_sso_required',
    members: { sso_url: 'https://github.com/orgs/a/sso' },
    says: /Open https:\/\/github\.com\/orgs\/a\/sso/,
  },
  {
    what: "GraphQL's single sign-on",
    failure: errors('FORBIDDEN', 'Resource protected by organization SAML enforcement.'),
    code: 'codehost_sso_required',
    members: { sso_url: null },
  },
  {
    what: 'a secondary limit',
    failure: answer(403, { ...ID, 'retry-after': '17' }),
    code: 'codehost_rate_limited',
    retry_after: '17',
    members: { reset_at: '2026-11-21T12:00:17.000Z' },
  },
  {
    what: 'a secondary limit that names no time',
    failure: answer(403, ID, { message: 'You have exceeded a secondary rate limit' }),
    code: 'codehost_rate_limited',
    retry_after: '60',
  },
  {
    what: 'the limit of the hour, told before permission',
    failure: answer(403, {
      ...ID,
      ...limit,
      'x-accepted-github-permissions': 'issues=read',
      'x-ratelimit-resource': 'core',
    }),
    code: 'codehost_rate_limited',
    retry_after: '90',
    members: { reset_at: '2026-11-21T12:01:30.000Z', resource: 'core' },
  },
  {
    what: 'a 429',
    failure: answer(429),
    code: 'codehost_rate_limited',
    retry_after: '60',
  },
  {
    what: "GraphQL's limit",
    failure: errors('RATE_LIMITED', 'Enough', { ...ID, ...limit }),
    code: 'codehost_rate_limited',
    retry_after: '90',
  },
  {
    what: 'any other 403',
    failure: answer(403, { ...ID, 'x-accepted-github-permissions': 'pull_requests=write' }),
    code: 'codehost_forbidden',
    members: { accepted_permissions: 'pull_requests=write' },
    says: /It requires pull_requests=write\. Grant the token of GH_TOKEN the permission/,
  },
  {
    what: "GraphQL's refusal, with what it does not say",
    failure: errors('FORBIDDEN'),
    question: { needs: 'contents=write' },
    code: 'codehost_forbidden',
    members: { accepted_permissions: 'contents=write' },
  },
  { what: 'a 451', failure: answer(451), code: 'codehost_forbidden' },
  {
    what: 'a 404',
    failure: answer(404),
    code: 'codehost_not_found',
    says: /was not found on .* It may be private/,
  },
  { what: "GraphQL's", failure: errors('NOT_FOUND'), code: 'codehost_not_found' },
  {
    what: 'a 410',
    failure: answer(410),
    question: { about: 'acme/app#1' },
    code: 'codehost_gone',
    members: { moved_to: null },
    says: /acme\/app#1 is gone/,
  },
  {
    what: 'a 410 of a repository without issues',
    failure: answer(410, ID, { message: 'Issues are disabled for this repo' }),
    question: { about: 'acme/app' },
    code: 'codehost_gone',
    says: /\(Issues are disabled for this repo\)\. Check the settings of the repository/,
  },
  {
    what: 'a 410 of a thread',
    failure: answer(410),
    question: { about: 'the thread PRRT_1' },
    code: 'codehost_gone',
    says: /the thread PRRT_1 is gone/,
  },
  {
    what: 'a 409 to a write of a thread',
    failure: answer(409),
    question: { about: 'the thread PRRT_1', write: true },
    code: 'codehost_conflict',
    says: /^The thread PRRT_1 has changed on/,
  },
  {
    what: 'a 408 to a write',
    failure: answer(408),
    question: { write: true },
    code: 'codehost_upstream',
    members: { outcome: 'unknown' },
  },
  {
    what: 'a redirect that was not followed',
    failure: answer(307, { ...ID, location: 'https://api.github.com/repositories/1/pulls' }),
    question: { write: true },
    code: 'codehost_gone',
    members: { moved_to: 'https://api.github.com/repositories/1/pulls' },
    says: /Nothing was written\. .*git remote set-url/,
  },
  {
    what: 'a redirect to another server',
    failure: answer(302, { location: 'https://login.example/' }),
    code: 'codehost_gateway',
  },
  { what: 'a 409 to a read', failure: answer(409), code: 'codehost_rejected' },
  {
    what: 'a 409 to a write',
    failure: answer(409),
    question: { write: true },
    code: 'codehost_conflict',
  },
  {
    what: 'a 422 with its reasons',
    failure: answer(422, ID, {
      message: 'Validation Failed',
      errors: [
        { resource: 'PullRequest', code: 'custom', message: 'A pull request already exists.' },
        { resource: 'PullRequest', field: 'title', code: 'missing_field' },
        'in words',
      ],
    }),
    code: 'codehost_rejected',
    members: {
      host_errors: [
        'A pull request already exists.',
        'PullRequest title missing_field',
        'in words',
      ],
    },
    says: /Validation Failed: A pull request already exists\./,
  },
  { what: 'a 400', failure: answer(400), code: 'codehost_rejected' },
  {
    what: "any other error of GraphQL's",
    failure: errors('UNPROCESSABLE'),
    code: 'codehost_rejected',
  },
  { what: 'a 500', failure: answer(500), code: 'codehost_upstream', says: /Try again later/ },
  { what: "GitHub's own page", failure: answer(502, ID, HTML), code: 'codehost_upstream' },
  { what: "somebody's page", failure: answer(502, {}, HTML), code: 'codehost_gateway' },
  {
    what: 'a 502 in answer to a write',
    failure: answer(502),
    question: { write: true },
    code: 'codehost_upstream',
    members: { outcome: 'unknown' },
    says: /check acme\/app.* on github\.com before you try again/,
  },
  { what: 'no name', failure: broken('ENOTFOUND'), code: 'codehost_unreachable' },
  {
    what: 'a refused connection',
    failure: broken('ECONNREFUSED'),
    question: { write: true },
    code: 'codehost_unreachable',
  },
  {
    what: 'a broken connection after a write',
    failure: broken('ECONNRESET'),
    question: { write: true },
    code: 'codehost_unreachable',
    members: { outcome: 'unknown' },
  },
  {
    what: "a proxy's refusal to go on",
    failure: {
      kind: 'unreachable',
      cause: new Error('Proxy response (407) !== 200 when HTTP Tunneling'),
    },
    code: 'codehost_gateway',
    members: { host_status: 407 },
  },
  {
    what: "fetch's own 407",
    failure: { kind: 'unreachable', cause: new TypeError('fetch failed', { cause: new Error() }) },
    code: 'codehost_gateway',
    members: { host_status: 407 },
  },
  {
    what: 'no answer in time',
    failure: { kind: 'timeout', seconds: 30 },
    code: 'codehost_timeout',
    says: /within 30 s\. Try again later/,
  },
  {
    what: 'no answer to a write in time',
    failure: { kind: 'timeout', seconds: 30 },
    question: { write: true },
    code: 'codehost_timeout',
    members: { outcome: 'unknown' },
    says: /The change may have been made/,
  },
];

describe('problemFrom', () => {
  for (const { what, failure, code, members = {}, says = /./, ...row } of ROWS) {
    it(`makes ${code} of ${what}`, () => {
      const problem = problemFrom(failure, { ...QUESTION, ...row.question }, () => NOW);
      assert.equal(problem.code, code);
      const told = Object.keys(members).map((name) => [name, problem.members[name]]);
      assert.deepEqual(Object.fromEntries(told), members);
      assert.equal(problem.members.outcome, members.outcome);
      assert.match(problem.message, says);
      assert.match(problem.message, /[.!]$/);
      assert.equal(problem.headers['retry-after'], row.retry_after);
    });
  }
});
