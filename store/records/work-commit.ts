import { type Static, Type } from 'typebox';
import { maybe, orNull } from './or-null.ts';

const LeftOut = Type.Object({
  path: Type.String(),
  why: Type.Enum(['secret', 'large', 'repository'], {
    description:
      '`secret`: its name says that it holds one; `large`: over 5 MB; `repository`: a git repository of its own',
  }),
});
export type LeftOut = Static<typeof LeftOut>;

const CommitId = Type.String({ pattern: '^([0-9a-f]{40}|[0-9a-f]{64})$' });

/** What became of the files of completed work in git. */
export const WorkCommit = Type.Object(
  {
    id: orNull(CommitId, "On the worktree's branch; null where nothing was committed"),
    files: Type.Integer({ minimum: 0, description: 'How many files the commit changes' }),
    left_out: Type.Array(LeftOut, {
      description: 'Untracked files that stay uncommitted: the first 100',
    }),
    reason: maybe(Type.String({ description: 'Why nothing was committed' })),
    command: maybe(Type.String({ description: 'What commits it, where that can be said' })),
  },
  { $id: 'WorkCommit' },
);
export type WorkCommit = Static<typeof WorkCommit>;
