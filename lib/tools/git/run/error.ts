import { isDiskFault } from '../../../../store/base/attempt.ts';
import { type ErrorCode, ServiceError } from '../../../errors.ts';

export type GitFailure =
  | 'failed'
  | 'busy'
  | 'timeout'
  | 'output_limit'
  | 'not_installed'
  | 'no_directory'
  | 'tampered';

interface Details {
  args: readonly string[];
  failure: GitFailure;
  /** git's exit code; null when it was ended or never started. */
  exit_code?: number | null;
  stderr?: string;
  /** The lock file in the way, and since when it is there. */
  lock?: { path: string; age_s: number };
}

/** One git command that did not do what was asked: the `cause` of the ServiceError that is thrown. */
export class GitError extends Error {
  override readonly name = 'GitError';
  readonly args: readonly string[];
  readonly failure: GitFailure;
  readonly exit_code: number | null;
  readonly stderr: string;
  readonly lock: { path: string; age_s: number } | undefined;

  constructor({ args, failure, exit_code = null, stderr = '', lock }: Details) {
    super(`git ${args[0] ?? ''}: ${firstLines(redacted(stderr)) || failure}`);
    this.args = args.map(redacted);
    this.failure = failure;
    this.exit_code = exit_code;
    this.stderr = redacted(stderr);
    this.lock = lock;
  }
}

/** The same text without the user names and passwords of the URLs in it. */
export const redacted = (text: string): string =>
  text.replace(/(https?:\/\/)[^\s/'"]*@|([a-z+-]+:\/\/)[^\s/'":]*:[^\s/'"]*@/gi, '$1$2');

const PROBLEMS: Record<Exclude<GitFailure, 'failed'>, [ErrorCode, (error: GitError) => string]> = {
  not_installed: [
    'unavailable',
    () => 'git is not installed. Install git 2.39 or newer and start the daemon again.',
  ],
  no_directory: [
    'git_failed',
    () => 'The directory is gone. Put it back, or make the worktree anew.',
  ],
  timeout: [
    'tool_timeout',
    ({ args }) => `git ${args[0]} did not end in time. Try again when the machine is less busy.`,
  ],
  output_limit: [
    'git_failed',
    ({ args }) => `git ${args[0]} answered more than is taken. Look at the worktree by hand.`,
  ],
  tampered: [
    'worktree_tampered',
    () =>
      "git's own record of the worktree is not what it was. Look at it by hand, then run: git worktree repair",
  ],
  busy: ['worktree_busy', ({ lock }) => busy(lock)],
};

/**
 * What the caller of the API is told about a failed git command. A ServiceError passes as it is, and so does what the disk
 * or a limit of the machine said.
 */
export const gitProblem = (error: unknown): ServiceError | NodeJS.ErrnoException => {
  if (error instanceof ServiceError || isDiskFault(error)) return error;
  if (!(error instanceof GitError)) {
    return new ServiceError('git_failed', 'git could not be run.', { cause: error });
  }
  if (error.failure !== 'failed') {
    const [code, detail] = PROBLEMS[error.failure];
    return new ServiceError(code, detail(error), { cause: error });
  }
  return failed(error);
};

const failed = (error: GitError): ServiceError => {
  const cause = { cause: error };
  const other = /already (?:checked out|used by worktree) at '(.*)'/.exec(error.stderr)?.[1];
  if (other !== undefined) {
    return new ServiceError(
      'branch_in_use',
      `The branch is checked out at ${other}. Use another branch.`,
      cause,
    );
  }
  if (error.stderr.includes('No space left on device')) {
    return new ServiceError('disk_full', 'The disk is full. Make room and try again.', cause);
  }
  return new ServiceError('git_failed', firstLines(error.stderr) || error.message, cause);
};

/** Whether git itself said no, for a reason that has no code of its own. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError &&
  error.code === 'git_failed' &&
  error.cause instanceof GitError &&
  error.cause.failure === 'failed';

const busy = (lock: GitError['lock']): string =>
  lock === undefined
    ? 'Another git command holds the repository. Try again when it has ended.'
    : `${lock.path} is there since ${lock.age_s} s. Try again when that git command has ended; if none runs, delete the file.`;

/** What git said, as one line. */
export const firstLines = (stderr: string): string =>
  stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, 3)
    .join(' ')
    .slice(0, 600);
