import { type Static, Type } from 'typebox';
import { Oid, Pictured } from './baseline.ts';
import { Id, Time } from './id.ts';

const Text = Type.Union([Type.String(), Type.Null()]);
const Commit = Type.Union([Oid, Type.Null()]);

/** What goes with the work of a removed worktree, in the commit that keeps it. */
export const RecoveryNote = Type.Object({
  case_id: Id,
  branch: Type.String({ minLength: 1 }),
  base: Type.String({ minLength: 1 }),
  base_commit: Oid,
  created_at: Time,
  /** Null where the directory was gone: then the commits are all there is. */
  picture: Type.Union([Pictured, Type.Null()]),
});
export type RecoveryNote = Static<typeof RecoveryNote>;

/** The work of a worktree that was removed, as it can be had again. */
export const Recovery = Type.Object(
  {
    id: Type.String({ description: 'When the worktree was removed' }),
    case_id: Id,
    created_at: Time,
    branch: Text,
    base_commit: Commit,
    head: Type.Union([Oid, Type.Null()], { description: 'The commit that the worktree stood on' }),
    ref: Type.Union([Type.String(), Type.Null()], {
      description: 'Where the repository keeps all of it: commits, index, files',
    }),
    patch: Type.Union([Type.String(), Type.Null()], {
      description: 'The same against the base, for git apply; relative to the workspace',
    }),
    restorable: Type.Boolean(),
    detail: Type.Optional(
      Type.String({ description: 'What to do where it cannot be restored by a call' }),
    ),
  },
  { $id: 'Recovery' },
);
export type Recovery = Static<typeof Recovery>;
