import { type Static, Type } from 'typebox';
import { PullRequest, PullTransition } from './pull-request.ts';
import { PostedProof } from './pull-status.ts';
import { LeftOut } from './work-commit.ts';

export const PullTitle = Type.String({ minLength: 1, maxLength: 256 });
export const Labels = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100 });
const Warnings = Type.Array(Type.String(), {
  description: 'Warnings that did not stop the operation',
});
const Changes = Type.Optional(
  Type.Enum(['commit', 'leave'], {
    description:
      'How to handle uncommitted changes in the worktree. Default: exactly the changes of completed sessions since their approval are committed, without files that a session leaves out (`left_out`); any others cause a 409 that names them. `commit`: commit all of them. `leave`: leave them uncommitted',
  }),
);
const Committed = Type.Union(
  [Type.Null(), Type.Object({ commit: Type.String(), files: Type.Integer() })],
  { description: 'The commit that was made for it' },
);
const StillUncommitted = Type.Array(LeftOut, {
  description:
    'Changed files that stay uncommitted, as a session would leave them: the first 100. `changes: commit` commits them',
});

export const PullPatch = Type.Object({
  title: Type.Optional(PullTitle),
  labels: Type.Optional(Labels),
  notes: Type.Optional(
    Type.String({
      maxLength: 10_000,
      description: "The operator's notes, which are not sent to the host",
    }),
  ),
});
export type PullPatch = Static<typeof PullPatch>;

export const WantedPull = Type.Object({
  title: Type.Optional(PullTitle),
  body: Type.Optional(Type.String({ maxLength: 65_536, description: 'Markdown' })),
  base: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The base branch. Default: the base of the worktree, or else the default branch',
    }),
  ),
  draft: Type.Optional(Type.Boolean({ description: 'Default: true' })),
  labels: Type.Optional(Labels),
  repository: Type.Optional(
    Type.String({
      pattern: '^[^/\\s]+/[^/\\s]+$',
      description: 'The base repository as `owner/name`, if the remotes name several',
    }),
  ),
  changes: Changes,
});
export type WantedPull = Static<typeof WantedPull>;

export const CreatedPull = Type.Object({
  ...PullRequest.properties,
  adopted: Type.Boolean({ description: 'Whether it was already open' }),
  committed: Committed,
  left_out: StillUncommitted,
  warnings: Warnings,
});
export type CreatedPull = Static<typeof CreatedPull>;

export const PushedPull = Type.Object({
  status: Type.Enum(['pushed', 'up_to_date']),
  remote: Type.String(),
  ref: Type.String(),
  commit: Type.String(),
  replaced: Type.Union([Type.Null(), Type.String()], { description: 'The previous value' }),
  committed: Committed,
  left_out: StillUncommitted,
});
export type PushedPull = Static<typeof PushedPull>;

export const SyncedPull = Type.Object({
  ...PullRequest.properties,
  added: Type.Array(PullTransition, { description: 'New entries of the timeline' }),
  warnings: Warnings,
});
export type SyncedPull = Static<typeof SyncedPull>;

export const MarkedReady = Type.Object({
  ...PullRequest.properties,
  changed: Type.Boolean({ description: 'False if it was already ready' }),
  comment: Type.Union([Type.Null(), PostedProof]),
  warnings: Warnings,
});
export type MarkedReady = Static<typeof MarkedReady>;
