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
