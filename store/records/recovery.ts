import { type Static, Type } from 'typebox';
import { Pictured } from './baseline.ts';
import { Id, Oid, Time } from './id.ts';
import { orNull } from './or-null.ts';

const Text = orNull(Type.String());
const Commit = orNull(Oid);

/** What goes with the work of a removed worktree, in the commit that keeps it. */
export const RecoveryNote = Type.Object({
  case_id: Id,
  branch: Type.String({ minLength: 1 }),
  base: Type.String({ minLength: 1 }),
  base_commit: Oid,
  created_at: Time,
  /** Null where the directory was gone: then the commits are all there is. */
  picture: orNull(Pictured),
});
export type RecoveryNote = Static<typeof RecoveryNote>;

export const RECOVERY_KINDS = ['removed', 'snapshot', 'undone', 'refs', 'set_aside'] as const;

/** Work of a worktree that was removed or changed, as it can be had again. */
export const Recovery = Type.Object(
  {
    id: Type.String({ description: 'Of a removed worktree: when that was' }),
    case_id: Id,
    kind: Type.Enum([...RECOVERY_KINDS], {
      description:
        'What it is of: a `removed` worktree; a `snapshot` of it before a rebase; what an abort or the end of a Plan turn has `undone`; `refs` as they were before they were put back; changes that were `set_aside` for a rebase and did not fit after it',
    }),
    created_at: Type.String({
      format: 'date-time',
      description: 'When it was kept; of `refs`: when the newest of them was made',
    }),
    branch: Text,
    base_commit: Commit,
    head: orNull(Oid, 'The commit that the worktree stood on'),
    ref: orNull(Type.String(), 'Where the repository keeps all of it: commits, index, files'),
    patch: orNull(
      Type.String(),
      'The same against the base, for git apply; relative to the workspace',
    ),
    restorable: Type.Boolean(),
    detail: Type.Optional(
      Type.String({ description: 'What to do where it cannot be restored by a call' }),
    ),
  },
  { $id: 'Recovery' },
);
export type Recovery = Static<typeof Recovery>;
