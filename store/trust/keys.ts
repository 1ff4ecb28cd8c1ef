/**
 * The settings that start programs, name endpoints or repositories, loosen isolation or send events out: each holds once
 * the operator has said so on this machine. `*` is any name.
 */
export const TRUSTED = [
  'provider',
  'providers.*',
  'projects.*',
  'sandbox',
  'sandbox_readable',
  'network',
  'allow_local',
  'permissions.*',
  'worktrees.root',
  'worktrees.setup',
  'worktrees.copy_files',
  'language_servers.*',
  'codehost.*',
  'require_key',
] as const;

/** The settings that hold as they stand. */
export const HARMLESS = [
  'max_sessions',
  'worktrees.ttl_hours',
  'worktrees.branch_prefix',
  'worktrees.branch_template',
  'worktrees.base_branch',
  'autocommit',
] as const;
