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
    Type.String({ minLength: 1, description: 'As the settings name it; `default` by default' }),
  ),
});

const Numbered = {
  number: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Of the issue' }),
};

export const codehostRoutes = [
  route('GET /api/codehost/availability', {
    summary: "Say whether the code host's program is installed, and whether a token is taken",
    description: 'Always 200: what is missing is the answer. Of a network that is down, `unknown`.',
    query: OfProject,
    response: Availability,
    errors: ['trust_needed', ...GIT],
    handler: async ({ query }, service) =>
      service.codeHost().availability(await hostOf(service, query.project)),
  }),
  route('GET /api/codehost/auth/status', {
    summary: 'Say who the token belongs to, where it is from and what it may',
    description:
      'Told apart with 200: no token, one that is not taken, and nobody to ask. The token itself is never told.',
    query: OfProject,
    response: AuthStatus,
    errors: ['trust_needed', ...GIT],
    handler: async ({ query }, service) =>
      service.codeHost().authStatus(await hostOf(service, query.project)),
  }),
  route('POST /api/codehost/auth/refresh', {
    summary: 'Read the token again: after gh auth login, say',
    description: 'Starts no login. A token in the environment of the daemon wins over that of gh.',
    query: OfProject,
    response: AuthRefresh,
    errors: ['codehost_cli_missing', 'codehost_auth_missing', 'trust_needed', ...GIT],
    handler: async ({ query }, service) =>
      service.codeHost().authRefresh(await hostOf(service, query.project)),
  }),
  route('GET /api/codehost/repo/detect', {
    operationId: 'detectCodehostRepo',
    summary: "Say which repository a project is, by git's configuration and the settings alone",
    description:
      'Asks nobody. `base` is where pull requests go, `push` where branches are pushed: two repositories, where one is a fork.',
    query: OfProject,
    response: Detection,
    errors: ['codehost_no_remote', 'no_repository', 'trust_needed', ...GIT],
    handler: ({ query }, service) => detect(service, query.project),
  }),
  route('GET /api/codehost/repo/validate', {
    operationId: 'validateCodehostRepo',
    summary: 'Say whether the repository can be seen, and whether it was renamed',
    description: 'That it cannot is an answer. A public one is seen without a token too.',
    query: OfProject,
    response: Validation,
    errors: HOSTED,
    handler: async ({ query }, service) =>
      (await hostedRepositoryOf(service, query.project)).validate(),
  }),
  route('GET /api/codehost/repo/permissions', {
    summary: 'Say what the operator may do there, as far as the host tells',
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
    summary: 'List its labels',
    query: OfProject,
    response: Type.Array(Label),
    errors: HOSTED,
    handler: async ({ query }, service) =>
      (await hostedRepositoryOf(service, query.project)).labels(),
  }),
  route('GET /api/codehost/repo/milestones', {
    summary: 'List its milestones, closed ones too',
    query: OfProject,
    response: Type.Array(Milestone),
    errors: HOSTED,
    handler: async ({ query }, service) =>
      (await hostedRepositoryOf(service, query.project)).milestones(),
  }),
  route('GET /api/codehost/repo/assignees', {
    summary: 'List who an issue there can be assigned to',
    query: OfProject,
    response: Type.Array(HostUser),
    errors: HOSTED,
    handler: async ({ query }, service) =>
      (await hostedRepositoryOf(service, query.project)).assignees(),
  }),
  route('GET /api/codehost/settings', {
    summary: 'Read how the code host is asked',
    response: CodeHostConfig,
    handler: async (_input, { store }) => served(await readCodeHostSettings(store)),
  }),
  route('PUT /api/codehost/settings', {
    // Whose server is asked is who gets the token.
    summary: 'Change how the code host is asked',
    description:
      'Written below `codehost` in workspace.md; every other byte of the file stays. What is not given stays as it is; null takes a setting out. The secret of incoming webhooks is kept outside of the file, and never told.',
    body: CodeHostConfigChange,
    response: CodeHostConfig,
    conditional: true,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ body, ifMatch }, { store }) =>
      served(await changeCodeHostSettings(store, body, ifMatch)),
  }),
  route('GET /api/codehost/me', {
    summary: 'Read who the operator is on the code host',
    query: OfProject,
    response: HostUser,
    errors: [...HOST_ERRORS, ...GIT],
    handler: async ({ query }, service) =>
      service.codeHost().me(await hostOf(service, query.project)),
  }),
  // What is read of issues, and kept nowhere.
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

const served = ({ config, etag }: ServedSettings) => tagged(config, etag);
