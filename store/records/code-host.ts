import { type Static, Type } from 'typebox';
import { orNull } from './fields.ts';
import { FILTERS } from './import-job.ts';

const Text = Type.String();
const TextOrNull = orNull(Text);

const Source = orNull(
  Type.Enum(['GH_TOKEN', 'GITHUB_TOKEN', 'GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN', 'gh'], {
    description: 'The source of the token',
  }),
);
const Reason = Type.Optional(
  Type.String({
    description:
      'Why not, in one word: no_token, invalid_token, unreachable, timeout, rate_limited, host_failed, gateway, gh_timeout, gh_failed, misconfigured',
  }),
);

export const Availability = Type.Object(
  {
    host: Text,
    cli: Type.Object({ installed: Type.Boolean(), version: TextOrNull }),
    authenticated: Type.Enum(['yes', 'no', 'unknown']),
    token_source: Source,
    reason: Reason,
  },
  { $id: 'CodeHostAvailability' },
);
export type Availability = Static<typeof Availability>;

const RateLimit = Type.Object({
  limit: Type.Integer(),
  remaining: Type.Integer(),
  reset_at: Text,
});
export type RateLimit = Static<typeof RateLimit>;

export const AuthStatus = Type.Object(
  {
    authenticated: orNull(Type.Boolean({ description: 'Null if the host could not be reached' })),
    login: TextOrNull,
    token_source: Source,
    token_kind: TextOrNull,
    scopes: orNull(
      Type.Array(Text, { description: 'Null for a fine-grained token, which does not list them' }),
    ),
    expires_at: TextOrNull,
    rate_limit: orNull(RateLimit),
    reason: Reason,
    hint: Type.Optional(Type.String({ description: 'The command to run' })),
  },
  { $id: 'CodeHostAuthStatus' },
);
export type AuthStatus = Static<typeof AuthStatus>;

export const AuthRefresh = Type.Object({
  changed: Type.Boolean({ description: 'Whether the token differs from the previous one' }),
  token_source: Source,
  login: TextOrNull,
  verified: orNull(Type.Boolean({ description: 'Null if the host could not be reached' })),
});
export type AuthRefresh = Static<typeof AuthRefresh>;

const Named = { host: Text, owner: Text, name: Text };
/** A repository on the code host, and the remote that names it, without credentials; null if the settings name it. */
export const RemoteRepository = Type.Object({ ...Named, remote: TextOrNull, url: TextOrNull });
export type RemoteRepository = Static<typeof RemoteRepository>;

/** The repositories for pull requests (`base`) and for pushed branches (`push`), which differ for a fork. */
export const Detection = Type.Object(
  {
    ...Named,
    remote: orNull(Type.String({ description: 'Null if the settings name the repository' })),
    base: RemoteRepository,
    push: RemoteRepository,
    candidates: Type.Array(RemoteRepository),
    ambiguous: Type.Boolean({
      description: 'Several repositories are possible; `base` is the likeliest',
    }),
  },
  { $id: 'DetectedRepository' },
);
export type Detection = Static<typeof Detection>;

export const Validation = Type.Object({
  accessible: Type.Boolean(),
  anonymous: Type.Boolean({ description: 'Whether the host was called without a token' }),
  reason: Type.Optional(Text),
  renamed_to: orNull(Type.String({ description: 'The new `owner/name` of a renamed repository' })),
  archived: orNull(Type.Boolean()),
  fork: orNull(Type.Boolean()),
  parent: TextOrNull,
});
export type Validation = Static<typeof Validation>;

const Can = Type.Enum(['yes', 'no', 'unknown']);

export const Permissions = Type.Object({
  role: orNull(
    Type.String({ description: "The user's role; the token may have fewer permissions" }),
  ),
  capabilities: Type.Object({
    ...{ read: Can, open_pull_requests: Can, push: Can, triage_issues: Can, resolve_threads: Can },
  }),
  sso_url: Type.Optional(Text),
});
export type Permissions = Static<typeof Permissions>;

export const RepositoryMeta = Type.Object({
  ...{ name: Text, full_name: Text, default_branch: Text, visibility: Text },
  description: TextOrNull,
  url: Text,
  ...{ archived: Type.Boolean(), fork: Type.Boolean(), parent: TextOrNull },
});
export type RepositoryMeta = Static<typeof RepositoryMeta>;

export const Label = Type.Object({ name: Text, color: Text, description: TextOrNull });
export type Label = Static<typeof Label>;

const OpenOrClosed = Type.Enum(['open', 'closed']);

export const Milestone = Type.Object({
  ...{ number: Type.Integer(), title: Text, state: OpenOrClosed },
  ...{ due_on: TextOrNull, description: TextOrNull },
});
export type Milestone = Static<typeof Milestone>;

export const HostUser = Type.Object({ login: Text, name: TextOrNull, url: Text });
export type HostUser = Static<typeof HostUser>;

export const IssueCount = Type.Object({
  repository: Text,
  open: Type.Integer({ description: 'Without pull requests' }),
});

export const IssueFilter = Type.Object({
  ...FILTERS,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: '30 by default' })),
  cursor: Type.Optional(Type.String({ maxLength: 1000, description: 'The `next_cursor` before' })),
});
export type IssueFilter = Static<typeof IssueFilter>;

const Time = Type.String({ format: 'date-time' });

export const Issue = Type.Object(
  {
    number: Type.Integer(),
    node_id: Type.String({ pattern: '^[!-~]*$' }),
    ...{ url: Text, title: Text },
    body: Type.String({ description: 'Markdown' }),
    ...{ state: OpenOrClosed, state_reason: TextOrNull },
    ...{ labels: Type.Array(Text), assignees: Type.Array(Text), milestone: TextOrNull },
    ...{ author: TextOrNull, comments: Type.Integer() },
    ...{ created_at: Time, updated_at: Time, closed_at: orNull(Time) },
  },
  { $id: 'HostedIssue' },
);
export type Issue = Static<typeof Issue>;

export const IssuePage = Type.Object({
  issues: Type.Array(Issue),
  next_cursor: orNull(Type.String({ description: 'Null at the end' })),
});
export type IssuePage = Static<typeof IssuePage>;

export const IssueComment = Type.Object({
  ...{ id: Type.Integer(), author: TextOrNull, body: Text, url: Text },
  ...{ created_at: Text, updated_at: Text },
});
export type IssueComment = Static<typeof IssueComment>;

export const LinkedPull = Type.Object({
  ...{ number: Type.Integer(), repository: Text, title: Text, url: Text },
  state: Type.Enum(['draft', 'open', 'closed', 'merged']),
  relation: Type.Enum(['closes', 'mentions'], {
    description: '`closes`: merging it closes the issue, by the link on the host',
  }),
});
export type LinkedPull = Static<typeof LinkedPull>;
