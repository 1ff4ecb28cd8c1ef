type StoreErrorCode =
  | 'unreadable_record'
  | 'worktree_elsewhere'
  | 'precondition_failed'
  | 'file_busy'
  | 'may_be_written'
  | 'too_large'
  | 'unsafe_path'
  | 'read_only';

/**
 * A refusal by the store, with a stable code. Absence is not an error: readers return `undefined`. File system errors
 * (ENOSPC, EACCES …) pass through unchanged.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  readonly details: Record<string, unknown>;

  constructor(code: StoreErrorCode, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** The error for a file or record that changed between the caller's read and its write. */
export const changedSince = (what: string): StoreError =>
  new StoreError(
    'precondition_failed',
    `${what} changed since you read it; nothing was written. Read it again before you decide.`,
  );
