/** What every endpoint may answer that asks git. */
export const GIT = ['git_failed', 'tool_timeout', 'unavailable'] as const;

/** What an endpoint may answer that reads the worktree. */
export const READING = [
  'worktree_missing',
  'worktree_tampered',
  'worktree_elsewhere',
  'unreadable_record',
] as const;

/** What an endpoint may answer that works in the worktree, alone. */
export const AT_WORK = [
  'session_active',
  'lock_held',
  'rebase_in_progress',
  'worktree_busy',
  'invalid_state',
  ...READING,
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

/** What an endpoint may answer that makes a session. */
export const CREATING = [
  'invalid_state',
  'no_repository',
  'provider_missing',
  'choice_not_offered',
  'trust_needed',
  'worktree_elsewhere',
  'unreadable_record',
  ...GIT,
] as const;

/** What every endpoint may answer that asks the code host about a repository. */
export const HOST_ERRORS = [
  'codehost_auth_missing',
  'codehost_auth_invalid',
  'codehost_forbidden',
  'codehost_sso_required',
  'codehost_not_found',
  'codehost_gone',
  'codehost_rejected',
  'codehost_rate_limited',
  'codehost_upstream',
  'codehost_gateway',
  'codehost_unreachable',
  'codehost_timeout',
  // An address of the API that cannot be, and gh that does not answer.
  'invalid_state',
  'trust_needed',
  'tool_timeout',
  'unavailable',
] as const;

/** The same where the repository has to be found by the project's remotes first. */
export const HOSTED = [
  ...HOST_ERRORS,
  'codehost_repo_not_detected',
  'no_repository',
  'git_failed',
] as const;
