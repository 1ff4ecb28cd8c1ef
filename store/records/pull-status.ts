import { type Static, Type } from 'typebox';
import { Id, orNull, Time } from './fields.ts';
import { named, PullRequest } from './pull-request.ts';

const Text = orNull(Type.String());

/** The current state on the host. */
export const PullStatus = Type.Object(
  {
    case_id: Id,
    number: named.number,
    url: Text,
    state: named.state,
    draft: Type.Boolean(),
    checks: PullRequest.properties.checks,
    review_decision: PullRequest.properties.review_decision,
    mergeable: PullRequest.properties.mergeable,
    base_ref: named.base_ref,
    head_ref: named.head_ref,
    head_sha: Text,
    remote_head: orNull(
      Type.String(),
      'The branch on the remote according to git; null if it does not exist, or the remote is unreachable',
    ),
    head_in_sync: PullRequest.properties.head_in_sync,
    merged_at: orNull(Time),
    fetched_at: Time,
    notes: Type.Array(Type.String(), { description: 'Warnings about these values' }),
  },
  { $id: 'PullStatus' },
);
export type PullStatus = Static<typeof PullStatus>;

const READY_CHECKS = [
  'state',
  'proof_gate',
  'reviews',
  'worktree_clean',
  'pushed',
  'head_in_sync',
  'mergeable',
  'checks',
] as const;

export const ReadyCheck = Type.Object(
  {
    ready: Type.Boolean({ description: 'Every check is ok' }),
    checks: Type.Array(
      Type.Object({
        name: Type.Enum([...READY_CHECKS]),
        ok: Type.Boolean(),
        detail: Type.String({ description: 'The result; if it is not ok, what to do' }),
      }),
    ),
  },
  { $id: 'ReadyCheck' },
);
export type ReadyCheck = Static<typeof ReadyCheck>;

/** The proof comment. */
export const PostedProof = Type.Object(
  {
    id: Type.Integer(),
    url: Type.String(),
    sha256: Type.String({ description: 'The hash of its content' }),
    updated: Type.Boolean({ description: 'Whether an existing comment was updated' }),
    proofs: Type.Integer({ description: 'The number of proofs in it' }),
  },
  { $id: 'PostedProof' },
);
export type PostedProof = Static<typeof PostedProof>;
