import { Type } from 'typebox';
import {
  changeCodeHostSettings,
  readCodeHostSettings,
  type ServedSettings,
} from '../lib/code/projects/codehost-settings.ts';
import { detect } from '../lib/code/projects/detect.ts';
import { countIssues, hostedRepositoryOf, hostOf } from '../lib/code/projects/hosted-repository.ts';
import { tagged } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import {
  AuthRefresh,
  AuthStatus,
  Availability,
  Detection,
  HostUser,
  Issue,
  IssueComment,
  IssueCount,
  IssueFilter,
  IssuePage,
  Label,
  LinkedPull,
  Milestone,
  Permissions,
  RepositoryMeta,
  Validation,
} from '../store/records/code-host.ts';
import { CodeHostConfig, CodeHostConfigChange } from '../store/records/codehost-settings.ts';
import { GIT, HOST_ERRORS, HOSTED } from './problems.ts';

const OfProject = Type.Object({
  project: Type.Optional(
    Type.String({ minLength: 1, description: 'A project in the settings; default: `default`' }),
  ),
});

const Numbered = {
  number: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'The number of the issue',
  }),
};

export const codehostRoutes = [
  route('GET /api/codehost/availability', {
    summary: "Check whether the code host's program is installed, and whether a token is accepted",
    description: 'Always 200: the answer says what is missing. `unknown` if the network is down.',
    query: OfProject,
    response: Availability,
    errors: ['trust_needed', ...GIT],
    handler: async ({ query }, service) =>
      service.codeHost().availability(await hostOf(service, query.project)),
  }),
  route('GET /api/codehost/auth/status', {
    summary: "Read the token's owner, source and scopes",
    description:
      'Always 200, also without a token, with a rejected token, or with an unreachable code host. Never returns the token itself.',
    query: OfProject,
    response: AuthStatus,
    errors: ['trust_needed', ...GIT],
    handler: async ({ query }, service) =>
      service.codeHost().authStatus(await hostOf(service, query.project)),
  }),
  route('POST /api/codehost/auth/refresh', {
    summary: 'Read the token again, for example after gh auth login',
    description:
      'Starts no login. A token in the environment of the daemon takes precedence over that of gh.',
    query: OfProject,
    response: AuthRefresh,
    errors: ['codehost_cli_missing', 'codehost_auth_missing', 'trust_needed', ...GIT],
    handler: async ({ query }, service) =>
      service.codeHost().authRefresh(await hostOf(service, query.project)),
  }),
  route('GET /api/codehost/repo/detect', {
    operationId: 'detectCodehostRepo',
    summary: "Detect the repository of a project from git's configuration and the settings",
    description:
      'Makes no request to the code host. `base` is the target of pull requests, `push` the target of branches; they differ for a fork.',
    query: OfProject,
    response: Detection,
    errors: ['codehost_no_remote', 'no_repository', 'trust_needed', ...GIT],
    handler: ({ query }, service) => detect(service, query.project),
  }),
  route('GET /api/codehost/repo/validate', {
    operationId: 'validateCodehostRepo',
    summary: 'Check whether the repository is accessible, and whether it was renamed',
    description:
      'The response is 200 for an inaccessible repository, too. A public one is accessible without a token.',
    query: OfProject,
    response: Validation,
    errors: HOSTED,
    handler: async ({ query }, service) =>
      (await hostedRepositoryOf(service, query.project)).validate(),
  }),
  route('GET /api/codehost/repo/permissions', {
    summary: "Read the operator's permissions for the repository",
    query: OfProject,
    response: Permissions,
    errors: HOSTED,
    handler: async ({ query }, service) =>
      (await hostedRepositoryOf(service, query.project)).permissions(),
  }),
  route('GET /api/codehost/repo/meta', {
    summary: 'Read name, default branch and visibility of the repository',
    query: OfProject,
    response: RepositoryMeta,
    errors: HOSTED,
    handler: async ({ query }, service) =>
      (await hostedRepositoryOf(service, query.project)).meta(),
  }),
  route('GET /api/codehost/repo/labels', {
    summary: 'List the labels of the repository',
    query: OfProject,
    response: Type.Array(Label),
    errors: HOSTED,
    handler: async ({ query }, service) =>
      (await hostedRepositoryOf(service, query.project)).labels(),
  }),
  route('GET /api/codehost/repo/milestones', {
    summary: 'List the milestones of the repository, including closed ones',
    query: OfProject,
    response: Type.Array(Milestone),
    errors: HOSTED,
    handler: async ({ query }, service) =>
      (await hostedRepositoryOf(service, query.project)).milestones(),
  }),
  route('GET /api/codehost/repo/assignees', {
    summary: 'List the users to whom an issue can be assigned',
    query: OfProject,
    response: Type.Array(HostUser),
    errors: HOSTED,
    handler: async ({ query }, service) =>
      (await hostedRepositoryOf(service, query.project)).assignees(),
  }),
  route('GET /api/codehost/settings', {
    summary: 'Read the settings of the code host',
    response: CodeHostConfig,
    handler: async (_input, { store }) => served(await readCodeHostSettings(store)),
  }),
  route('PUT /api/codehost/settings', {
    // The settings decide which server receives the token.
    summary: 'Change the settings of the code host',
    description:
      'Writes to `codehost` in workspace.md and changes nothing else in the file. null removes a setting. The secret of incoming webhooks is stored outside of the file, and never returned.',
    body: CodeHostConfigChange,
    response: CodeHostConfig,
    conditional: true,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ body, ifMatch }, { store }) =>
      served(await changeCodeHostSettings(store, body, ifMatch)),
  }),
  route('GET /api/codehost/me', {
    summary: "Read the operator's user on the code host",
    query: OfProject,
    response: HostUser,
    errors: [...HOST_ERRORS, ...GIT],
    handler: async ({ query }, service) =>
      service.codeHost().me(await hostOf(service, query.project)),
  }),
  // Issues are only read, not stored.
  route('GET /api/codehost/issues/count', {
    operationId: 'countCodehostIssues',
    summary: 'Count the open issues, excluding pull requests',
    query: OfProject,
    response: IssueCount,
    errors: HOSTED,
    handler: ({ query }, service) => countIssues(service, query.project),
  }),
  route('POST /api/codehost/issues/fetch', {
    operationId: 'fetchIssues',
    summary: 'Fetch a page of issues by filters, without storing them',
    description:
      'Pull requests are left out, so a page may have fewer than `limit` entries: continue while there is a `next_cursor`.',
    query: OfProject,
    body: Type.Optional(IssueFilter),
    response: IssuePage,
    errors: HOSTED,
    handler: async ({ query, body }, service) =>
      (await hostedRepositoryOf(service, query.project)).issues(body ?? {}),
  }),
  route('GET /api/codehost/issues/{number}/detail', {
    summary: 'Read an issue in full',
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

const served = ({ config, etag }: ServedSettings) => tagged(config, etag);
