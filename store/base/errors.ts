export type StoreErrorCode =
  | 'unreadable_record'
  | 'worktree_elsewhere'
  | 'precondition_failed'
  | 'file_busy'
  | 'may_be_written'
  | 'too_large'
  | 'unsafe_path'
  | 'read_only';

/**
 * What the store refuses to do, with a stable code. Absence is never an error here: readers answer `undefined`.
 * Errors of the file system itself (ENOSPC, EACCES …) pass through untouched.
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

/** What is told of something that is another than the one that was read. */
export const changedSince = (what: string): StoreError =>
  new StoreError(
    'precondition_failed',
    `${what} changed since you read it. Read it again and decide anew; nothing was written.`,
  );
