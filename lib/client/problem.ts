import type { ErrorCode } from './operations.ts';

/** A problem document of the daemon (RFC 9457), or an error of another server at this address. Its message is the detail. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  /** The stable identifier of the error. `unknown` if the answer is not a problem of the daemon. */
  readonly code: ErrorCode | 'unknown';
  readonly title: string;
  /** What happened and what to do next. */
  readonly detail: string;
  /** All members of the document: some problems have additional ones. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(status: number, members: Readonly<Record<string, unknown>>) {
    const { code = 'unknown', title = `HTTP ${status}`, detail = title } = members;
    super(String(detail));
    this.status = status;
    this.code = code as ErrorCode;
    this.title = String(title);
    this.detail = this.message;
    this.members = members;
  }
}

/** The daemon cannot be reached, or the connection was lost; `cause` is the error of fetch. */
export class NoConnection extends Error {
  override readonly name = 'NoConnection';
}
