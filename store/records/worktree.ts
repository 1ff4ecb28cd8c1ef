import { type Static, Type } from 'typebox';
import { Id, Time } from './id.ts';

const Directory = Type.String({ pattern: '^/', description: 'Absolute' });

/** The worktree of a Work item as it is served. */
export const Worktree = Type.Object(
  {
    case_id: Id,
    path: Directory,
    branch: Type.String({ minLength: 1 }),
    base: Type.String({ minLength: 1, description: 'The branch or commit that it started from' }),
    base_commit: Type.String({
      pattern: '^([0-9a-f]{40}|[0-9a-f]{64})$',
      description: 'The commit of the base that its diff is against',
    }),
    attached: Type.Boolean({
      description: 'An existing directory of the operator: it is never deleted',
    }),
    created_at: Time,
  },
  { $id: 'Worktree' },
);
export type Worktree = Static<typeof Worktree>;

/** The record, of this machine only. Its directories are how git is told where all is. */
export const WorktreeRecord = Type.Object({
  ...Worktree.properties,
  repository: Directory,
  git_dir: Directory,
  common_dir: Directory,
});
export type WorktreeRecord = Static<typeof WorktreeRecord>;
