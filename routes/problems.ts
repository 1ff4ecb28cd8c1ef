/** The errors of endpoints that call git. */
export const GIT = ['git_failed', 'tool_timeout', 'unavailable'] as const;

/** The errors of endpoints that read the worktree. */
export const READING = [
  'worktree_missing',
  'worktree_tampered',
  'worktree_elsewhere',
  'unreadable_record',
] as const;

/** The errors of endpoints that change the worktree under its lock. */
export const AT_WORK = [
  'session_active',
  'lock_held',
  'rebase_in_progress',
  'worktree_busy',
  'invalid_state',
  ...READING,
  ...GIT,
] as const;

/** The errors of endpoints that attach or restore a worktree. */
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

/** The errors of endpoints that create a session. */
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

/** The errors of endpoints that call the code host. */
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
  // An invalid address of the code host's API, and a gh that does not answer.
  'invalid_state',
  'trust_needed',
  'tool_timeout',
  'unavailable',
] as const;

/** The errors of endpoints that write to a recorded pull request. */
export const PULL_WRITE = [
  'pull_mismatch',
  'codehost_repo_not_detected',
  'no_repository',
  ...HOST_ERRORS,
] as const;

/** The errors of endpoints that also detect the repository from the project's remotes. */
export const HOSTED = [
  ...HOST_ERRORS,
  'codehost_repo_not_detected',
  'no_repository',
  'git_failed',
] as const;
