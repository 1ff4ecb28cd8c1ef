import type { ErrorCode } from './operations.ts';

/** The daemon's refusal (RFC 9457), or what another server at this address answered. Its message is the detail. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  /** Programs go by it. `unknown`: it was no problem of the daemon. */
  readonly code: ErrorCode | 'unknown';
  readonly title: string;
  /** What happened and what to do next. */
  readonly detail: string;
  /** All that was sent: some problems have further members, such as what is missing. */
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

/** Nothing answered, or the connection broke; `cause` is what fetch said. */
export class NoConnection extends Error {
  override readonly name = 'NoConnection';
}
