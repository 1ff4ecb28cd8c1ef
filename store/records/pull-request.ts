import { type Static, Type } from 'typebox';
import { Id, maybe, Oid, orNull, Sha256, Time } from './fields.ts';

export const PULL_STATES = ['draft', 'open', 'closed', 'merged'] as const;
const REVIEW_DECISIONS = ['approved', 'changes_requested', 'review_required'] as const;
const CHECK_RESULTS = ['success', 'failure', 'pending'] as const;

/** The proof comment: its URL, and the hash of its content. */
const ProofComment = Type.Object({
  id: Type.Integer(),
  url: Type.String(),
  sha256: Sha256,
  at: Time,
});

/** The required fields of a pull request, enough for a hand-made record. */
export const named = {
  host: Type.String({ minLength: 1, description: 'Such as github.com' }),
  repository: Type.String({ pattern: '^[^/\\s]+/[^/\\s]+$', description: 'owner/name' }),
  number: Type.Integer({ minimum: 1 }),
  title: Type.String({ minLength: 1 }),
  state: Type.Enum([...PULL_STATES]),
  head_ref: Type.String({ minLength: 1, description: 'The head branch' }),
  base_ref: Type.String({ minLength: 1, description: 'The base branch' }),
};

/**
 * The front matter of pr/pr.md: the pull request as last read from the host. The body is the published one, byte for byte.
 * Times are by the host's clock, except `synced_at`.
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
  /** Whether the host knows the branch's commit on the remote; null if one of them could not be reached. */
  head_in_sync: maybe(Type.Boolean()),
  /** Whether a webhook reported a newer change. */
  stale: Type.Optional(Type.Boolean()),
  /** The time of that change, by the host's clock. */
  told_at: maybe(Time),
  /** When all reviews were last read. */
  reviews_synced_at: maybe(Time),
  /** The checks that could not be read then, and why. */
  checks_unread: maybe(Type.String()),
  /** The same of reviews. */
  reviews_unread: maybe(Type.String()),
  /** The hash of the body as last published; it may have been edited on the host since. */
  published_sha256: maybe(Sha256),
  /** The remote of the branch, and the last pushed commit. */
  remote: maybe(Type.String()),
  pushed_commit: maybe(Oid),
  proof_comment: maybe(ProofComment),
  created_at: maybe(Time),
  updated_at: maybe(Time),
  merged_at: maybe(Time),
  /** The commit in the base branch that it was merged with; after a squash, not one of the head branch. */
  merge_commit: maybe(Oid),
  closed_at: maybe(Time),
  synced_at: maybe(Time),
  /** The operator's notes, which are not sent to the host. */
  notes: maybe(Type.String()),
});
export type PullMatter = Static<typeof PullMatter>;

const Text = orNull(Type.String());

/** A pull request as the API returns it. */
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
      description: 'The combined result of all checks of the head; null if there are none',
    }),
    mergeable: orNull(Type.Boolean(), 'Null until the host has computed it'),
    head_in_sync: orNull(
      Type.Boolean(),
      'Whether the host has the commit of the branch on the remote; it may lag for a while after a push. Null if it could not be checked',
    ),
    stale: Type.Boolean({
      description: 'Whether a webhook reported a newer change. Sync to read it',
    }),
    published_sha256: orNull(Sha256),
    proof_comment: orNull(ProofComment),
    created_at: orNull(Time),
    updated_at: orNull(Time),
    merged_at: orNull(Time),
    closed_at: orNull(Time),
    synced_at: orNull(Time, 'When it was last read from the host'),
    notes: Type.String({ description: "The operator's notes, which are not sent to the host" }),
  },
  { $id: 'PullRequest' },
);
export type PullRequest = Static<typeof PullRequest>;

/** The front matter of pr/draft.md; the body is the composed body. */
export const PullDraftMatter = Type.Object({
  title: Type.String({ minLength: 1 }),
  labels: Type.Optional(Type.Array(Type.String())),
  composed_at: maybe(Time),
  /** The hash of the composed body; a different one means that it was edited. */
  composed_sha256: maybe(Sha256),
});
export type PullDraftMatter = Static<typeof PullDraftMatter>;

/** A draft as the API returns it. */
export const PullDraft = Type.Object(
  {
    title: Type.String(),
    body: Type.String(),
    labels: Type.Array(Type.String()),
    composed_at: orNull(Time, 'Null if it was composed for this response and not stored'),
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
    seq: Type.Integer({ minimum: 1, description: 'The order in which entries became known here' }),
    number: Type.Integer({ minimum: 1, description: 'The number of the pull request' }),
    event: Type.Enum([...TRANSITIONS]),
    from: State,
    to: State,
    occurred_at: Type.String({ format: 'date-time', description: "By the host's clock" }),
    observed_at: Time,
    source: Type.Enum(['service', 'sync', 'webhook'], { description: 'The source of the entry' }),
    actor: Text,
    head_sha: Text,
    host_event_id: Text,
  },
  { $id: 'PullTransition' },
);
export type PullTransition = Static<typeof PullTransition>;
