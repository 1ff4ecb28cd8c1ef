import { type Static, Type } from 'typebox';
import { Pictured } from './baseline.ts';
import { Id, Oid, orNull, Time } from './fields.ts';

const Text = orNull(Type.String());
const Commit = orNull(Oid);

/** The data that the commit with the work of a removed worktree carries. */
export const RecoveryNote = Type.Object({
  case_id: Id,
  branch: Type.String({ minLength: 1 }),
  base: Type.String({ minLength: 1 }),
  base_commit: Oid,
  created_at: Time,
  /** Null if the directory was gone, so that only commits could be kept. */
  picture: orNull(Pictured),
});
export type RecoveryNote = Static<typeof RecoveryNote>;

const RECOVERY_KINDS = ['removed', 'snapshot', 'undone', 'refs', 'set_aside'] as const;

/** Work of a removed or changed worktree that can be restored. */
export const Recovery = Type.Object(
  {
    id: Type.String({ description: 'For a removed worktree, the time of removal' }),
    case_id: Id,
    kind: Type.Enum([...RECOVERY_KINDS], {
      description:
        '`removed`: a removed worktree. `snapshot`: the state before a rebase. `undone`: changes undone by an abort or after a Plan turn. `refs`: refs before they were reset. `set_aside`: uncommitted changes that no longer applied after a rebase',
    }),
    created_at: Type.String({
      format: 'date-time',
      description: 'When it was kept; for `refs`, the time of the newest one',
    }),
    branch: Text,
    base_commit: Commit,
    head: orNull(Oid, 'The commit that was checked out'),
    ref: orNull(Type.String(), 'The ref with all of it: commits, index, files'),
    patch: orNull(
      Type.String(),
      'The patch against the base, for `git apply`; relative to the workspace',
    ),
    restorable: Type.Boolean(),
    detail: Type.Optional(Type.String({ description: 'What to do if the API cannot restore it' })),
  },
  { $id: 'Recovery' },
);
export type Recovery = Static<typeof Recovery>;
