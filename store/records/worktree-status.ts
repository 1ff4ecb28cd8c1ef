import { type Static, Type } from 'typebox';
import { Lock } from './lock.ts';
import { orNull } from './or-null.ts';
import { Worktree } from './worktree.ts';

const State = Type.Enum(['ok', 'missing', 'tampered'], {
  description: 'Whether the worktree is there as it was made; it is never put right silently',
});
const Detail = Type.Optional(
  Type.String({ description: 'What to do, where the status is not ok' }),
);
const Text = orNull(Type.String());
const Count = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
  description: 'Commits, compared with the upstream branch, or with the base where there is none',
});

const Submodules = Type.Optional(
  Type.Array(
    Type.Object({
      path: Type.String(),
      files: Type.Integer({ description: 'Not committed in it' }),
      commits: Type.Integer({ description: 'In it, and neither pushed nor named by the base' }),
      readable: Type.Boolean({ description: 'false: git cannot look into it' }),
    }),
    { description: 'Submodules that hold work; the worktree is not removed while they do' },
  ),
);

/** A worktree with what is in it now. */
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
      { description: 'What is not committed, untracked files one by one' },
    ),
  ),
  submodules: Submodules,
});
export type CurrentStatus = Static<typeof CurrentStatus>;

export const WorktreeHealth = Type.Object({
  exists: Type.Boolean({ description: 'Without a worktree the only member, and false' }),
  status: Type.Optional(State),
  detail: Detail,
  branch: Type.Optional(Text),
  head: Type.Optional(Text),
  dirty: Type.Optional(Type.Boolean()),
  ahead: Type.Optional(Count),
  behind: Type.Optional(Count),
  submodules: Submodules,
  rebase_in_progress: Type.Optional(Type.Boolean()),
  lock: Type.Optional(Lock),
});
export type WorktreeHealth = Static<typeof WorktreeHealth>;

/** Whether what is done in a worktree stays in it. */
export const WorktreeIsolation = Type.Object({
  isolated: Type.Boolean({ description: 'Every check is ok' }),
  checks: Type.Array(
    Type.Object({
      name: Type.String({
        examples: ['as_made', 'own_directory', 'own_index', 'own_branch', 'own_work_tree'],
      }),
      ok: Type.Boolean(),
      detail: Type.String({ description: 'What was found; where it is not ok, what to do' }),
    }),
  ),
});
export type WorktreeIsolation = Static<typeof WorktreeIsolation>;
