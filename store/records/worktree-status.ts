import { type Static, Type } from 'typebox';
import { orNull } from './fields.ts';
import { Lock } from './lock.ts';
import { NewInBase, Worktree } from './worktree.ts';

const State = Type.Enum(['ok', 'missing', 'tampered'], {
  description: 'Whether the worktree is as it was created. It is never repaired silently',
});
const Detail = Type.Optional(Type.String({ description: 'What to do if the status is not ok' }));
const Text = orNull(Type.String());
const Count = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
  description: 'Commits ahead of and behind the upstream branch, or the base if there is none',
});

const Submodules = Type.Optional(
  Type.Array(
    Type.Object({
      path: Type.String(),
      files: Type.Integer({ description: 'The number of uncommitted files' }),
      commits: Type.Integer({
        description: 'The number of commits neither pushed nor in the base',
      }),
      readable: Type.Boolean({ description: 'False if git cannot read it' }),
    }),
    {
      description:
        'Submodules with work, and directories with files of ones that are not checked out. They prevent the removal of the worktree, and no diff shows their uncommitted files',
    },
  ),
);

/** A worktree with its current changes. */
export const CurrentStatus = Type.Object({
  ...Worktree.properties,
  status: State,
  detail: Detail,
  head: Type.Optional(Text),
  files: Type.Optional(
    Type.Array(
      Type.Object({
        path: Type.String(),
        code: Type.String({ description: 'As in git status --short, a dot for unchanged' }),
        from: Type.Optional(Type.String()),
      }),
      { description: 'Uncommitted changes; untracked files one by one' },
    ),
  ),
  submodules: Submodules,
});
export type CurrentStatus = Static<typeof CurrentStatus>;

export const WorktreeHealth = Type.Object({
  exists: Type.Boolean({ description: 'False without a worktree; then this is the only member' }),
  status: Type.Optional(State),
  detail: Detail,
  branch: Type.Optional(Text),
  head: Type.Optional(Text),
  dirty: Type.Optional(Type.Boolean()),
  uncommitted: Type.Optional(
    Type.Integer({ description: 'The number of uncommitted files, without those in submodules' }),
  ),
  ahead: Type.Optional(Count),
  behind: Type.Optional(Count),
  new_in_base: Type.Optional(NewInBase),
  submodules: Submodules,
  rebase_in_progress: Type.Optional(Type.Boolean()),
  lock: Type.Optional(Lock),
});
export type WorktreeHealth = Static<typeof WorktreeHealth>;

/** Whether changes in a worktree stay in it. */
export const WorktreeIsolation = Type.Object({
  isolated: Type.Boolean({ description: 'Every check is ok' }),
  checks: Type.Array(
    Type.Object({
      name: Type.String({
        examples: ['as_made', 'own_directory', 'own_index', 'own_branch', 'own_work_tree'],
      }),
      ok: Type.Boolean(),
      detail: Type.String({ description: 'The result; if it is not ok, what to do' }),
    }),
  ),
});
export type WorktreeIsolation = Static<typeof WorktreeIsolation>;
