/**
 * Every error an answer can carry: stable code → HTTP status and title. A code is a promise: added, never
 * renamed or reused. The statuses are those of the interface document and of RFC 9110.
 */
export const ERRORS = {
  bad_request: { status: 400, title: 'The request is not valid' },
  unauthorized: { status: 401, title: 'The credential is not valid' },
  not_operator: { status: 403, title: 'Only the operator decides this' },
  form_expired: { status: 403, title: 'The form is not of this page' },
  not_local: { status: 403, title: 'Only this machine may call the API' },
  codehost_forbidden: { status: 403, title: 'The remote refuses access' },
  codehost_sso_required: { status: 403, title: 'The organisation asks for a single sign-on' },
  not_found: { status: 404, title: 'No such resource' },
  route_not_found: { status: 404, title: 'No such endpoint' },
  codehost_not_found: { status: 404, title: 'The remote has no such repository or branch' },
  codehost_no_remote: { status: 404, title: 'No remote leads to a code host' },
  codehost_gone: { status: 404, title: 'It was moved or deleted on the code host' },
  method_not_allowed: { status: 405, title: 'The endpoint does not take this method' },
  request_timeout: { status: 408, title: 'The body did not arrive in time' },
  already_exists: { status: 409, title: 'It exists already' },
  lock_held: { status: 409, title: 'The session lock is held' },
  session_active: { status: 409, title: 'A session is active' },
  other_session_active: { status: 409, title: 'Another session is active' },
  work_mode_active: { status: 409, title: 'Work mode is already active' },
  plan_changed: { status: 409, title: 'The plan changed since it was read' },
  approved_elsewhere: { status: 409, title: 'The operator has not approved it on this machine' },
  verified_elsewhere: { status: 409, title: 'A verification was not made on this machine' },
  approval_mismatch: { status: 409, title: 'The approved text is not what was approved' },
  unreadable_record: { status: 409, title: 'The file cannot be read as a record' },
  file_busy: { status: 409, title: 'The file keeps changing' },
  work_would_be_lost: { status: 409, title: 'Uncommitted or unpushed work would be lost' },
  worktree_busy: { status: 409, title: 'A program is at work in the worktree' },
  worktree_tampered: { status: 409, title: 'The worktree is not the one that was made' },
  worktree_elsewhere: { status: 409, title: 'The worktree is not one of this machine' },
  worktree_missing: { status: 409, title: 'The directory of the worktree is gone' },
  rebase_in_progress: { status: 409, title: 'A rebase is under way' },
  uncommitted_changes: { status: 409, title: 'Changed files are in the way' },
  remote_moved: { status: 409, title: 'The branch on the remote is not what it was' },
  codehost_ambiguous: { status: 409, title: 'Several repositories could be meant' },
  codehost_conflict: { status: 409, title: 'It changed on the code host since' },
  sync_running: { status: 409, title: 'All Work items are being synced' },
  sync_conflict: { status: 409, title: 'Changed here and on the code host' },
  draft_edited: { status: 409, title: 'The draft was edited by hand' },
  update_changed: { status: 409, title: 'The update changed since it was read' },
  planning_edited: { status: 409, title: 'The file was edited by hand' },
  branch_in_use: { status: 409, title: 'The branch is checked out elsewhere' },
  question_closed: { status: 409, title: 'The question is not open any more' },
  idempotency_in_use: { status: 409, title: 'A call with this key goes on' },
  precondition_failed: { status: 412, title: 'The record changed since it was read' },
  too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported' },
  range_not_satisfiable: { status: 416, title: 'The file is not that long' },
  upgrade_required: { status: 426, title: 'The endpoint is a WebSocket' },
  proof_gate_blocked: { status: 422, title: 'Verified proof is missing' },
  plan_not_ready: { status: 422, title: 'There is no plan to approve' },
  plan_empty: { status: 422, title: 'The plan is empty' },
  plan_hides_text: { status: 422, title: 'A shell block holds what cannot be seen' },
  planning_gate_closed: { status: 422, title: 'The planning files are not approved' },
  webhook_secret_malformed: { status: 422, title: 'The secret is no key' },
  invalid_state: { status: 422, title: 'Not valid in the current state' },
  not_a_worktree: { status: 422, title: 'The directory cannot be the worktree' },
  trust_needed: { status: 422, title: 'The operator has to trust a setting first' },
  provider_missing: { status: 422, title: 'The program of the provider is not installed' },
  choice_not_offered: { status: 422, title: 'The provider does not offer it' },
  choice_needed: { status: 422, title: 'The operator has to say where to go on' },
  no_repository: { status: 422, title: 'No git repository is configured' },
  markers_remain: { status: 422, title: 'Conflicts are not resolved' },
  push_refused: { status: 422, title: 'The remote refused the push' },
  codehost_auth_missing: { status: 422, title: 'The remote asks for a credential' },
  codehost_auth_invalid: { status: 422, title: 'The remote does not take the credential' },
  codehost_cli_missing: { status: 422, title: 'The program of the code host is not installed' },
  codehost_repo_not_detected: { status: 422, title: 'No repository on a code host' },
  codehost_rejected: { status: 422, title: 'The code host refused it' },
  codehost_no_webhook_secret: { status: 422, title: 'No secret for incoming webhooks' },
  answer_invalid: { status: 422, title: 'The answer does not fit the question' },
  idempotency_mismatch: { status: 422, title: 'Another call was made with this key' },
  not_linked: { status: 422, title: 'The Work item is linked to nothing there' },
  too_many_exports: { status: 429, title: 'Enough exports are running' },
  codehost_rate_limited: { status: 429, title: 'The remote has had enough requests' },
  internal: { status: 500, title: 'The daemon made a mistake' },
  git_failed: { status: 502, title: 'git failed' },
  provider_failed: { status: 502, title: 'The agent failed' },
  codehost_upstream: { status: 502, title: 'The remote failed' },
  codehost_gateway: { status: 502, title: 'Something before the code host answered' },
  unavailable: { status: 503, title: 'Out of reach or not installed' },
  codehost_unreachable: { status: 503, title: 'The remote is out of reach' },
  read_only: { status: 503, title: 'The workspace is read-only for now' },
  disk_failed: { status: 503, title: 'The disk failed' },
  may_be_written: { status: 503, title: 'The change may be written or not' },
  access_denied: { status: 503, title: 'The file system refuses access' },
  tool_timeout: { status: 504, title: 'A program did not answer in time' },
  codehost_timeout: { status: 504, title: 'The remote did not answer in time' },
  disk_full: { status: 507, title: 'The disk is full' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

export interface FieldError {
  /** Where: `/title`, `/events/0`, or `query/limit`, `path/filename`. */
  path: string;
  message: string;
}

interface Extra {
  errors?: FieldError[];
  /** Further members of the problem document, for programs: never a stack, never a path outside the workspace. */
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** An error that the caller of the API is told: `message` is the problem's `detail` and says what to do next. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly errors: FieldError[] | undefined;
  readonly members: Record<string, unknown>;
  readonly headers: Record<string, string>;

  get status(): number {
    return ERRORS[this.code].status;
  }

  constructor(code: ErrorCode, message: string, extra: Extra = {}) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.code = code;
    this.errors = extra.errors;
    this.members = extra.members ?? {};
    this.headers = extra.headers ?? {};
  }
}

export const notFound = (what: string, id: string): ServiceError =>
  new ServiceError(
    'not_found',
    `There is no ${what} ${id} here. List the collection to see what there is.`,
  );

/** What is asked means nothing as things stand; `message` says what to do first. */
export const invalidState = (message: string, extra?: Extra): ServiceError =>
  new ServiceError('invalid_state', message, extra);

/** One field of a request is not what it has to be, as its `message` says after its path. */
export const badField = (
  path: string,
  message: string,
  detail = `${path} ${message}.`,
): ServiceError => new ServiceError('bad_request', detail, { errors: [{ path, message }] });

/** What was looked for. Throws 404 where it is not there. */
export const orNotFound = <T>(value: T | undefined, what: string, id: string): T => {
  if (value === undefined) throw notFound(what, id);
  return value;
};
