import { Type } from 'typebox';
import { countIssues, hostedRepositoryOf } from '../lib/code/projects/hosted.ts';
import { route } from '../lib/http/route.ts';
import {
  Issue,
  IssueComment,
  IssueCount,
  IssueFilter,
  IssuePage,
  LinkedPull,
} from '../store/records/code-host.ts';
import { OfProject } from './codehost.ts';
import { HOSTED } from './problems.ts';

const Numbered = {
  number: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Of the issue' }),
};

/** What is read of issues, and kept nowhere. */
export const codehostReadRoutes = [
  route('GET /api/codehost/issues/count', {
    operationId: 'countCodehostIssues',
    summary: 'Count the open issues, without pull requests',
    query: OfProject,
    response: IssueCount,
    errors: HOSTED,
    handler: ({ query }, service) => countIssues(service, query.project),
  }),
  route('POST /api/codehost/issues/fetch', {
    operationId: 'fetchIssues',
    summary: 'Fetch a page of issues by filters; nothing is kept',
    description:
      'Pull requests are left out, so a page may hold fewer than `limit`: go on while there is a `next_cursor`.',
    query: OfProject,
    body: Type.Optional(IssueFilter),
    response: IssuePage,
    errors: HOSTED,
    handler: async ({ query, body }, service) =>
      (await hostedRepositoryOf(service, query.project)).issues(body ?? {}),
  }),
  route('GET /api/codehost/issues/{number}/detail', {
    summary: 'Read one issue in full',
    params: Numbered,
    query: OfProject,
    response: Issue,
    errors: HOSTED,
    handler: async ({ params, query }, service) =>
      (await hostedRepositoryOf(service, query.project)).issue(params.number),
  }),
  route('GET /api/codehost/issues/{number}/comments', {
    summary: 'List the comments on an issue, oldest first',
    params: Numbered,
    query: OfProject,
    response: Type.Array(IssueComment),
    errors: HOSTED,
    handler: async ({ params, query }, service) =>
      (await hostedRepositoryOf(service, query.project)).issueComments(params.number),
  }),
  route('GET /api/codehost/issues/{number}/linked-prs', {
    summary: 'List the pull requests that close an issue, then those that mention it',
    params: Numbered,
    query: OfProject,
    response: Type.Array(LinkedPull),
    errors: HOSTED,
    handler: async ({ params, query }, service) =>
      (await hostedRepositoryOf(service, query.project)).linkedPulls(params.number),
  }),
];
