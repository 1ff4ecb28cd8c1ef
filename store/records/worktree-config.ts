import { type Static, Type } from 'typebox';
import { maybe, orNull } from './fields.ts';

const FIELDS = {
  root: Type.String({
    minLength: 1,
    maxLength: 4096,
    description: 'The directory for new worktrees; a relative path starts at the workspace',
  }),
  ttl_hours: Type.Number({
    minimum: 0,
    description: 'A worktree unused for longer is stale. It is not removed automatically',
  }),
  branch_prefix: Type.String({ maxLength: 200 }),
  branch_template: Type.String({
    minLength: 1,
    maxLength: 200,
    description:
      'The template of branch names, from {prefix}, {name} (the directory of the Work item), {slug}, {id}, {type} and {project}. It must contain {id} or {name}, so that no two Work items share a branch',
  }),
  setup: Type.Array(Type.String({ minLength: 1, maxLength: 16_384 }), {
    maxItems: 100,
    description: 'Commands for sh, run one by one in each new worktree, until one fails',
  }),
  copy_files: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
    maxItems: 100,
    description:
      'Globs, from the top of the main checkout, of files that git ignores: copied into each new worktree unless the name exists there',
  }),
  share: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
    maxItems: 20,
    description:
      'Directories that a setup command installs, from the top of the worktree, such as node_modules. With an enforced sandbox, a new worktree gets a copy of what the command installed for the same lockfile, instead of running it',
  }),
  commit: Type.Enum(['end', 'never'], {
    description:
      "`end`: what a completed session changed is committed on its worktree's branch; `never`: it stays uncommitted",
  }),
};

const BaseBranch = Type.String({
  minLength: 1,
  maxLength: 200,
  description:
    "The base branch of worktrees; null: the remote's default branch, or else the current one",
});

/** The worktree settings in force, with defaults. */
export const WorktreeConfig = Type.Object(
  { ...FIELDS, base_branch: orNull(BaseBranch) },
  { $id: 'WorktreeConfig' },
);
export type WorktreeConfig = Static<typeof WorktreeConfig>;

/** A change of these settings. Null removes a setting from workspace.md, so that its default applies. */
export const WorktreeConfigChange = Type.Object({
  root: maybe(FIELDS.root),
  ttl_hours: maybe(FIELDS.ttl_hours),
  branch_prefix: maybe(FIELDS.branch_prefix),
  branch_template: maybe(FIELDS.branch_template),
  base_branch: maybe(BaseBranch),
  setup: maybe(FIELDS.setup),
  copy_files: maybe(FIELDS.copy_files),
  share: maybe(FIELDS.share),
  commit: maybe(FIELDS.commit),
});
export type WorktreeConfigChange = Static<typeof WorktreeConfigChange>;
