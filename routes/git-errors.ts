/** What every endpoint may answer that asks git. */
export const GIT = ['git_failed', 'tool_timeout', 'unavailable'] as const;

/** What an endpoint may answer that gives a Work item a worktree which is there, or was. */
export const TAKING = [
  'already_exists',
  'lock_held',
  'session_active',
  'worktree_busy',
  'unreadable_record',
  'no_repository',
  'invalid_state',
  ...GIT,
] as const;
