import { type Static, Type } from 'typebox';
import { Id, orNull, Time } from './fields.ts';
import { Worktree } from './worktree.ts';

const { path, branch, attached, created_at } = Worktree.properties;

const Why = {
  code: Type.String({ description: 'The error code that DELETE would return' }),
  reason: Type.String({ description: 'What to do' }),
};

export const KnownWorktree = Type.Object(
  {
    case_id: Id,
    path: Type.Optional(path),
    branch: Type.Optional(branch),
    attached: Type.Optional(attached),
    created_at: Type.Optional(created_at),
    problem: Type.Optional(
      Type.String({ description: 'Why its record cannot be read; then other fields are absent' }),
    ),
    kept: Type.Boolean({
      description:
        'Whether it may have saved work, even without a worktree; `GET …/recoveries` lists it',
    }),
  },
  { $id: 'KnownWorktree' },
);
export type KnownWorktree = Static<typeof KnownWorktree>;

export const UncommittedWorktree = Type.Object(
  {
    case_id: Id,
    session_id: Id,
    files: Type.Integer({ description: 'The number of files when the session ended or paused' }),
    message: Type.String({ description: '`12 uncommitted files`, or with the reason' }),
  },
  { $id: 'UncommittedWorktree' },
);
export type UncommittedWorktree = Static<typeof UncommittedWorktree>;

export const StaleWorktree = Type.Object(
  {
    ...{ case_id: Id, path, branch, attached, created_at },
    status: Type.Enum(['ok', 'missing', 'tampered']),
    last_used_at: Time,
    idle_hours: Type.Number({ minimum: 0 }),
    removable: Type.Boolean({ description: 'Whether a clean-up would remove it now' }),
    code: Type.Optional(Why.code),
    reason: Type.Optional(Why.reason),
  },
  { $id: 'StaleWorktree' },
);
export type StaleWorktree = Static<typeof StaleWorktree>;

export const CleanupWish = Type.Object({
  dry_run: Type.Optional(Type.Boolean({ description: 'Only report what would be done' })),
  closed: Type.Optional(
    Type.Boolean({
      description: 'Include Work items that are RESOLVED or NON_ISSUE, even if used recently',
    }),
  ),
  case_ids: Type.Optional(
    Type.Array(Id, { maxItems: 10_000, description: 'Only these, such as those from a dry run' }),
  ),
});
export type CleanupWish = Static<typeof CleanupWish>;

export const Cleanup = Type.Object({
  dry_run: Type.Boolean(),
  removed: Type.Array(Type.Object({ case_id: Id, path, branch }), {
    description:
      'The removed worktrees; their branches stay. In a dry run: those that would be removed',
  }),
  skipped: Type.Array(Type.Object({ case_id: Id, ...Why })),
});
export type Cleanup = Static<typeof Cleanup>;

export const BranchName = Type.Object({
  case_id: Id,
  branch: Type.String(),
  exists: Type.Boolean({
    description: 'Whether it exists in the repository; a worktree on it starts from its tip',
  }),
  checked_out_at: orNull(
    Type.String(),
    'Where it is checked out now, so that no other worktree can use it',
  ),
});
export type BranchName = Static<typeof BranchName>;
