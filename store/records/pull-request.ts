import { type Static, Type } from 'typebox';
import { Id, Oid, Sha256, Time } from './id.ts';
import { maybe, orNull } from './or-null.ts';

export const PULL_STATES = ['draft', 'open', 'closed', 'merged'] as const;
export const REVIEW_DECISIONS = ['approved', 'changes_requested', 'review_required'] as const;
export const CHECK_RESULTS = ['success', 'failure', 'pending'] as const;

/** The one comment that shows the proof: where it is, and the digest of what it showed. */
const ProofComment = Type.Object({
  id: Type.Integer(),
  url: Type.String(),
  sha256: Sha256,
  at: Time,
});

/** What every pull request has: a record that an operator writes by hand needs no more. */
export const named = {
  host: Type.String({ minLength: 1, description: 'Such as github.com' }),
  repository: Type.String({ pattern: '^[^/\\s]+/[^/\\s]+$', description: 'owner/name' }),
  number: Type.Integer({ minimum: 1 }),
  title: Type.String({ minLength: 1 }),
  state: Type.Enum([...PULL_STATES]),
  head_ref: Type.String({ minLength: 1, description: 'The branch that is proposed' }),
  base_ref: Type.String({ minLength: 1, description: 'The branch it is proposed for' }),
};

/**
 * The front matter of pr/pr.md: the pull request as the host last told it. The body is the published one, byte for byte.
 * Times are the host's but `synced_at`.
 */
export const PullMatter = Type.Object({
  ...named,
  node_id: maybe(Type.String()),
  url: maybe(Type.String()),
  author: maybe(Type.String()),
  head_owner: maybe(Type.String()),
  head_sha: maybe(Oid),
  labels: Type.Optional(Type.Array(Type.String())),
  review_decision: maybe(Type.Enum([...REVIEW_DECISIONS])),
  checks: maybe(Type.Enum([...CHECK_RESULTS])),
  mergeable: maybe(Type.Boolean()),
  /** Whether the host knows the commit that the branch has on the remote; null: one of them could not be asked. */
  head_in_sync: maybe(Type.Boolean()),
  /** The host has told of something newer than this. */
  stale: Type.Optional(Type.Boolean()),
  /** When that was, by the host's clock. */
  told_at: maybe(Time),
  /** When all reviews were last read. */
  reviews_synced_at: maybe(Time),
  /** Which checks could not be read then, and why. */
  checks_unread: maybe(Type.String()),
  /** Of the body as it was last published: on the host it may have been edited since. */
  published_sha256: maybe(Sha256),
  /** The name of the remote that the branch was pushed to, and what was pushed last. */
  remote: maybe(Type.String()),
  pushed_commit: maybe(Oid),
  proof_comment: maybe(ProofComment),
  created_at: maybe(Time),
  updated_at: maybe(Time),
  merged_at: maybe(Time),
  closed_at: maybe(Time),
  synced_at: maybe(Time),
  /** The operator's own; the host never sees them. */
  notes: maybe(Type.String()),
});
export type PullMatter = Static<typeof PullMatter>;

const Text = orNull(Type.String());

/** The pull request as it is served. */
export const PullRequest = Type.Object(
  {
    case_id: Id,
    ...named,
    url: Text,
    body: Type.String({ description: 'As last read from the host' }),
    author: Text,
    head_owner: Text,
    head_sha: Text,
    labels: Type.Array(Type.String()),
    review_decision: orNull(Type.Enum([...REVIEW_DECISIONS])),
    checks: Type.Union([Type.Null(), Type.Enum([...CHECK_RESULTS])], {
      description: 'All checks of the head together; null: there are none',
    }),
    mergeable: orNull(Type.Boolean(), 'null: the host has not worked it out yet'),
    head_in_sync: orNull(
      Type.Boolean(),
      'Whether the host knows the commit that the branch has on the remote; after a push it may be behind for a while. null: nobody could be asked',
    ),
    stale: Type.Boolean({ description: 'The host has told of something newer: sync' }),
    published_sha256: orNull(Sha256),
    proof_comment: orNull(ProofComment),
    created_at: orNull(Time),
    updated_at: orNull(Time),
    merged_at: orNull(Time),
    closed_at: orNull(Time),
    synced_at: orNull(Time, 'When the host was last asked'),
    notes: Type.String({ description: "The operator's own; they stay here" }),
  },
  { $id: 'PullRequest' },
);
export type PullRequest = Static<typeof PullRequest>;

/** The front matter of pr/draft.md; the body is the composed body. */
export const PullDraftMatter = Type.Object({
  title: Type.String({ minLength: 1 }),
  labels: Type.Optional(Type.Array(Type.String())),
  composed_at: maybe(Time),
  /** Of the body as it was composed: it was edited since where this is another. */
  composed_sha256: maybe(Sha256),
});
export type PullDraftMatter = Static<typeof PullDraftMatter>;

/** The draft as it is served. */
export const PullDraft = Type.Object(
  {
    title: Type.String(),
    body: Type.String(),
    labels: Type.Array(Type.String()),
    composed_at: orNull(Time, 'null: composed for this answer, and kept nowhere'),
    edited: Type.Boolean({ description: 'pr/draft.md was edited since it was composed' }),
  },
  { $id: 'PullDraft' },
);
export type PullDraft = Static<typeof PullDraft>;

export const TRANSITIONS = [
  'opened',
  'ready',
  'draft',
  'closed',
  'reopened',
  'merged',
  'head_pushed',
  'review',
  'renamed',
] as const;
const State = Type.Enum(['none', ...PULL_STATES]);

/** One line of pr/timeline.ndjson. */
export const PullTransition = Type.Object(
  {
    seq: Type.Integer({ minimum: 1, description: 'In the order in which it became known here' }),
    number: Type.Integer({ minimum: 1, description: 'Of the pull request' }),
    event: Type.Enum([...TRANSITIONS]),
    from: State,
    to: State,
    occurred_at: Type.String({ format: 'date-time', description: "By the host's clock" }),
    observed_at: Time,
    source: Type.Enum(['service', 'sync', 'webhook'], { description: 'Who told of it' }),
    actor: Text,
    head_sha: Text,
    host_event_id: Text,
  },
  { $id: 'PullTransition' },
);
export type PullTransition = Static<typeof PullTransition>;
