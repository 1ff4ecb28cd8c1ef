/** What every endpoint may answer that asks git. */
export const GIT = ['git_failed', 'tool_timeout', 'unavailable'] as const;

/** What an endpoint may answer that makes a session. */
export const CREATING = [
  'not_found',
  'invalid_state',
  'rebase_in_progress',
  'no_repository',
  'provider_missing',
  'choice_not_offered',
  'trust_needed',
  'unreadable_record',
  ...GIT,
] as const;

/** What an endpoint may answer that gives a Work item a worktree which is there, or was. */
export const TAKING = [
  'already_exists',
  'lock_held',
  'session_active',
  'worktree_busy',
  'unreadable_record',
  'no_repository',
  'trust_needed',
  'invalid_state',
  ...GIT,
] as const;

/** What an endpoint may answer that works in the worktree, alone. */
export const AT_WORK = [
  'session_active',
  'lock_held',
  'rebase_in_progress',
  'worktree_busy',
  'worktree_missing',
  'worktree_tampered',
  'unreadable_record',
  'invalid_state',
  ...GIT,
] as const;
