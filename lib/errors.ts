/**
 * Every error of the API: stable code → HTTP status and title. Codes may be added, but never renamed or reused. Statuses
 * follow the interface document and RFC 9110.
 */
export const ERRORS = {
  bad_request: { status: 400, title: 'The request is not valid' },
  unauthorized: { status: 401, title: 'The credential is not valid' },
  not_operator: { status: 403, title: 'Only the operator may do this' },
  form_expired: { status: 403, title: 'The form has expired' },
  not_local: { status: 403, title: 'Only this machine may call the API' },
  codehost_forbidden: { status: 403, title: 'The remote denied access' },
  codehost_sso_required: { status: 403, title: 'The organization requires single sign-on' },
  not_found: { status: 404, title: 'No such resource' },
  route_not_found: { status: 404, title: 'No such endpoint' },
  codehost_not_found: { status: 404, title: 'The remote has no such repository or branch' },
  codehost_no_remote: { status: 404, title: 'No remote points to a code host' },
  codehost_gone: { status: 404, title: 'Moved or deleted on the code host' },
  method_not_allowed: { status: 405, title: 'The endpoint does not support this method' },
  request_timeout: { status: 408, title: 'The body did not arrive in time' },
  already_exists: { status: 409, title: 'Already exists' },
  lock_held: { status: 409, title: 'The session lock is held' },
  session_active: { status: 409, title: 'A session is active' },
  other_session_active: { status: 409, title: 'Another session is active' },
  terminal_attached: { status: 409, title: 'A terminal is attached to the session' },
  work_mode_active: { status: 409, title: 'Work mode is already active' },
  plan_changed: { status: 409, title: 'The plan changed since it was read' },
  approved_elsewhere: { status: 409, title: 'Not approved on this machine' },
  verified_elsewhere: { status: 409, title: 'Not verified on this machine' },
  approval_mismatch: { status: 409, title: 'The text differs from the approved one' },
  unreadable_record: { status: 409, title: 'The file is not a valid record' },
  file_busy: { status: 409, title: 'The file keeps changing' },
  work_would_be_lost: { status: 409, title: 'Uncommitted or unpushed work would be lost' },
  worktree_busy: { status: 409, title: 'A program is running in the worktree' },
  worktree_tampered: { status: 409, title: 'The worktree was replaced or modified' },
  worktree_elsewhere: { status: 409, title: 'The worktree belongs to another machine' },
  worktree_missing: { status: 409, title: 'The directory of the worktree is missing' },
  rebase_in_progress: { status: 409, title: 'A rebase is in progress' },
  uncommitted_changes: { status: 409, title: 'Uncommitted changes block the operation' },
  pull_mismatch: { status: 409, title: 'The record names another pull request' },
  remote_moved: { status: 409, title: 'The remote branch has moved' },
  codehost_ambiguous: { status: 409, title: 'More than one repository matches' },
  codehost_conflict: { status: 409, title: 'Changed on the code host since it was read' },
  sync_running: { status: 409, title: 'A sync of all Work items is running' },
  sync_conflict: { status: 409, title: 'Changed both here and on the code host' },
  draft_edited: { status: 409, title: 'The draft was edited by hand' },
  update_changed: { status: 409, title: 'The update changed since it was read' },
  planning_edited: { status: 409, title: 'The file was edited by hand' },
  branch_in_use: { status: 409, title: 'The branch is checked out elsewhere' },
  question_closed: { status: 409, title: 'The question is no longer open' },
  idempotency_in_use: { status: 409, title: 'A request with this key is in progress' },
  precondition_failed: { status: 412, title: 'The record changed since it was read' },
  too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported' },
  range_not_satisfiable: { status: 416, title: 'The range is outside the file' },
  upgrade_required: { status: 426, title: 'The endpoint requires a WebSocket upgrade' },
  proof_gate_blocked: { status: 422, title: 'Verified proof is missing' },
  plan_not_ready: { status: 422, title: 'There is no plan to approve' },
  plan_empty: { status: 422, title: 'The plan is empty' },
  plan_hides_text: { status: 422, title: 'A shell block contains invisible text' },
  planning_gate_closed: { status: 422, title: 'The planning files are not approved' },
  webhook_secret_malformed: { status: 422, title: 'The webhook secret is malformed' },
  invalid_state: { status: 422, title: 'Not valid in the current state' },
  not_a_worktree: { status: 422, title: 'The directory cannot be used as a worktree' },
  trust_needed: { status: 422, title: 'A setting is not trusted yet' },
  provider_missing: { status: 422, title: 'The program of the provider is not installed' },
  choice_not_offered: { status: 422, title: 'The provider does not offer this choice' },
  attach_unsupported: { status: 422, title: 'No terminal can be attached to the session' },
  choice_needed: { status: 422, title: 'The operator has to choose how to continue' },
  no_repository: { status: 422, title: 'No git repository is configured' },
  markers_remain: { status: 422, title: 'Conflicts are not resolved' },
  push_refused: { status: 422, title: 'The remote refused the push' },
  codehost_auth_missing: { status: 422, title: 'The remote requires a credential' },
  codehost_auth_invalid: { status: 422, title: 'The remote rejected the credential' },
  codehost_cli_missing: { status: 422, title: 'The program of the code host is not installed' },
  codehost_repo_not_detected: { status: 422, title: 'No repository on a code host was found' },
  codehost_rejected: { status: 422, title: 'The code host rejected the request' },
  codehost_no_webhook_secret: { status: 422, title: 'No secret for incoming webhooks is set' },
  answer_invalid: { status: 422, title: 'The answer does not fit the question' },
  idempotency_mismatch: { status: 422, title: 'The key was used for another request' },
  not_linked: { status: 422, title: 'The Work item is not linked' },
  too_many_exports: { status: 429, title: 'Too many exports are running' },
  codehost_rate_limited: { status: 429, title: 'The remote rate limit was reached' },
  internal: { status: 500, title: 'Internal error' },
  git_failed: { status: 502, title: 'git failed' },
  provider_failed: { status: 502, title: 'The agent failed' },
  codehost_upstream: { status: 502, title: 'The remote failed' },
  codehost_gateway: { status: 502, title: 'A gateway before the code host answered' },
  unavailable: { status: 503, title: 'Unavailable or not installed' },
  codehost_unreachable: { status: 503, title: 'The remote is unreachable' },
  read_only: { status: 503, title: 'The workspace is read-only' },
  disk_failed: { status: 503, title: 'The disk reported an error' },
  may_be_written: { status: 503, title: 'The change may or may not have been written' },
  access_denied: { status: 503, title: 'The file system denied access' },
  tool_timeout: { status: 504, title: 'A program did not answer in time' },
  codehost_timeout: { status: 504, title: 'The remote did not answer in time' },
  disk_full: { status: 507, title: 'The disk is full' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

export interface FieldError {
  /** A JSON pointer into the body (`/title`, `/events/0`), or `query/limit`, `path/filename`. */
  path: string;
  message: string;
}

interface Extra {
  errors?: FieldError[];
  /** Extension members of the problem document (RFC 9457): never a stack, never a path outside the workspace. */
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** An error that the API returns to its caller: `message` is the problem's `detail` and says what to do next. */
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

/** Performs the rest of an operation. If that fails, the error also says what was done before; undefined for nothing. */
export const afterDone = <T>(done: string | undefined, rest: () => Promise<T>): Promise<T> =>
  rest().catch((error: unknown) => {
    if (done === undefined || !(error instanceof Error)) throw error;
    const told = ` Before that, ${done}.`;
    // A copy, because other callers may get the same error.
    if (!(error instanceof ServiceError))
      throw Object.assign(
        Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error)),
        { doneBefore: `${doneBefore(error)}${told}` },
      );
    const { code, message, errors, members, headers } = error;
    throw new ServiceError(code, `${asSentence(message)}${told}`, {
      members,
      headers,
      cause: error,
      ...(errors && { errors }),
    });
  });

/** A message with a full stop; one that quotes a program, such as git, may have none. */
export const asSentence = (message: string): string =>
  /[.!?]$/.test(message) ? message : `${message}.`;

/** What was done before an error of the store or of the file system, which gets its words where it is answered. */
export const doneBefore = (error: unknown): string => {
  const { doneBefore: told, cause } = (error ?? {}) as { doneBefore?: string; cause?: unknown };
  return told ?? (cause === undefined ? '' : doneBefore(cause));
};

/** `hint` is a sentence with a space behind it. */
export const notFound = (what: string, id: string, hint = ''): ServiceError =>
  new ServiceError(
    'not_found',
    `There is no ${what} ${id} here. ${hint}${LISTS.get(what) ?? LIST_COLLECTION}`,
  );

/** The advice where the collection is not the path above. */
const LISTS: ReadonlyMap<string, string> = new Map([
  ['API key', 'List them with `dossier key --list`.'],
  ['import job', 'List them with GET /api/codehost/import/jobs.'],
  ['review', 'List them with GET …/pr/reviews.'],
  ['trusted value', 'List them with GET /trusted.'],
  ['update', 'List them with GET …/pr-body/updates.'],
]);

/** The advice of `notFound`. */
export const LIST_COLLECTION = 'List the collection to see what exists.';

/** The request is not valid in the current state; `message` says what to do first. */
export const invalidState = (message: string, extra?: Extra): ServiceError =>
  new ServiceError('invalid_state', message, extra);

/** One field of a request is invalid; `message` continues a sentence that begins with its path. */
export const badField = (
  path: string,
  message: string,
  detail = `${path} ${message}.`,
): ServiceError => new ServiceError('bad_request', detail, { errors: [{ path, message }] });

/** Returns the value. Throws `not_found` if it is undefined. */
export const orNotFound = <T>(value: T | undefined, what: string, id: string): T => {
  if (value === undefined) throw notFound(what, id);
  return value;
};
