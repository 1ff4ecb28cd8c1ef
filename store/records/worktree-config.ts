import { type Static, Type } from 'typebox';
import { maybe, orNull } from './or-null.ts';

const FIELDS = {
  root: Type.String({
    minLength: 1,
    maxLength: 4096,
    description: 'Where worktrees are made; a relative path starts at the workspace',
  }),
  ttl_hours: Type.Number({
    minimum: 0,
    description: 'A worktree at rest for longer is stale. Nothing is removed by that alone',
  }),
  branch_prefix: Type.String({ maxLength: 200 }),
  branch_template: Type.String({
    minLength: 1,
    maxLength: 200,
    description:
      'How branches are called, of {prefix}, {name} (the directory of the Work item), {slug}, {id}, {type} and {project}; with {id} or {name} in it, so that no two Work items share one',
  }),
  setup: Type.Array(Type.String({ minLength: 1, maxLength: 16_384 }), {
    maxItems: 100,
    description: 'Commands for sh, run one by one in each new worktree, until one fails',
  }),
  copy_files: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
    maxItems: 100,
    description:
      'Globs, from the top of the main checkout, of files that git ignores: copied into each new worktree, where none of that name is',
  }),
  commit: Type.Enum(['end', 'never'], {
    description:
      "`end`: what a completed session changed is committed on its worktree's branch; `never`: it stays uncommitted",
  }),
};

const BaseBranch = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "What worktrees start from; null: the remote's default branch, else the current one",
});

/** How worktrees are made, as it is now: what the settings say, and the default where they say nothing. */
export const WorktreeConfig = Type.Object(
  { ...FIELDS, base_branch: orNull(BaseBranch) },
  { $id: 'WorktreeConfig' },
);
export type WorktreeConfig = Static<typeof WorktreeConfig>;

/** What is to be maybe of it: null takes a setting out of workspace.md, and the default holds. */
export const WorktreeConfigChange = Type.Object({
  root: maybe(FIELDS.root),
  ttl_hours: maybe(FIELDS.ttl_hours),
  branch_prefix: maybe(FIELDS.branch_prefix),
  branch_template: maybe(FIELDS.branch_template),
  base_branch: maybe(BaseBranch),
  setup: maybe(FIELDS.setup),
  copy_files: maybe(FIELDS.copy_files),
  commit: maybe(FIELDS.commit),
});
export type WorktreeConfigChange = Static<typeof WorktreeConfigChange>;
