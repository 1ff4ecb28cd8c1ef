import { isDiskFault, messageOf } from '../../../../store/base/attempt.ts';
import { shellQuoted } from '../../../../store/base/text.ts';
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
  /** git's exit code; null if git was ended by a limit or never started. */
  exit_code?: number | null;
  stderr?: string;
  /** The lock file that blocks the command, and its age in seconds. */
  lock?: { path: string; age_s: number };
}

/** A failed git command: the `cause` of the ServiceError that is thrown. */
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

/** Removes user names and passwords from URLs in a text. */
export const redacted = (text: string): string =>
  text.replace(/(https?:\/\/)[^\s/'"]*@|([a-z+-]+:\/\/)[^\s/'":]*:[^\s/'"]*@/gi, '$1$2');

const PROBLEMS: Record<
  Exclude<GitFailure, 'failed'>,
  [ErrorCode, (error: GitError, directory: string) => string]
> = {
  not_installed: [
    'unavailable',
    () => 'git is not installed. Install git 2.39 or newer and start the daemon again.',
  ],
  no_directory: [
    'git_failed',
    (_error, directory) =>
      `The directory ${directory} does not exist. Restore it, or create the worktree again.`,
  ],
  timeout: [
    'tool_timeout',
    ({ args }) => `git ${args[0]} timed out. Try again when the machine is less busy.`,
  ],
  output_limit: [
    'git_failed',
    ({ args }) =>
      `The output of git ${args[0]} exceeds the limit. Run it in the worktree yourself.`,
  ],
  tampered: [
    'worktree_tampered',
    () => "git's record of the worktree was changed. Check it, then run: git worktree repair",
  ],
  busy: ['worktree_busy', ({ lock }) => busy(lock)],
};

/**
 * Converts a failed git command in a directory into an error of the API. Returns a ServiceError or a disk fault unchanged.
 */
export const gitProblem = (
  error: unknown,
  directory = '.',
): ServiceError | NodeJS.ErrnoException => {
  if (error instanceof ServiceError || isDiskFault(error)) return error;
  if (!(error instanceof GitError)) {
    const detail = `git could not be started: ${messageOf(error)}.`;
    return new ServiceError('git_failed', detail, { cause: error });
  }
  if (error.failure !== 'failed') {
    const [code, detail] = PROBLEMS[error.failure];
    return new ServiceError(code, detail(error, directory), { cause: error });
  }
  return failed(error, directory);
};

const failed = (error: GitError, directory: string): ServiceError => {
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
    return new ServiceError('disk_full', 'The disk is full. Free some space and try again.', cause);
  }
  return new ServiceError('git_failed', sentence(error, directory), cause);
};

const sentence = ({ stderr, message }: GitError, directory: string): string => {
  if (/lazy fetching disabled|from promisor remote/.test(stderr))
    return `The repository is a partial clone that lacks objects, and the daemon fetches none by itself. To fetch them all, run: git -C ${shellQuoted(directory)} fetch --refetch --no-filter`;
  const [line, file, how, name] = FILTER.exec(stderr) ?? [];
  if (line !== undefined)
    return `The ${how} filter ${name} failed for ${file}: ${firstLines(stderr.replace(line, ''))}. Correct filter.${name} in git's settings, then try again`;
  const [, advice = ''] = UNWRITABLE.find(([pattern]) => pattern.test(stderr)) ?? [];
  return `${firstLines(stderr) || message}${advice}`;
};

const FILTER = /^fatal: (.+): (clean|smudge) filter '?(.+?)'? failed$/m;

const UNWRITABLE: [RegExp, string][] = [
  [
    /\.lock': Permission denied|insufficient permission for adding an object/,
    '. The daemon cannot write to the repository: give its user write access to it, then try again.',
  ],
  [
    /\.lock': Read-only file system/,
    '. The file system of the repository is mounted read-only: mount it writable, then try again.',
  ],
  // git does not say why.
  [
    /unable to create directory for /,
    '. The daemon cannot write to the repository: free some space or inodes if its disk is full (df, df -i), or give its user write access to it, then try again.',
  ],
];

/** Whether git itself failed, for a reason without an error code of its own. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError &&
  error.code === 'git_failed' &&
  error.cause instanceof GitError &&
  error.cause.failure === 'failed';

const busy = (lock: GitError['lock']): string =>
  lock === undefined
    ? 'Another git command has locked the repository. Try again when it has ended.'
    : `Another git command has held ${lock.path} for ${lock.age_s} s. Try again when it has ended; if none runs, delete the file.`;

/** The first three lines of git's stderr, as one line. */
export const firstLines = (stderr: string): string =>
  stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, 3)
    .join(' ')
    .slice(0, 600);
