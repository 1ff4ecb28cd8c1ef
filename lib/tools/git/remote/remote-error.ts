import { type ErrorCode, ServiceError } from '../../../errors.ts';
import { firstLines, GitError, gitProblem, redacted } from '../run/error.ts';
import type { GitResult } from '../run/git.ts';
import type { RemoteAddress } from './remote-address.ts';

/** Converts the failure of a remote command into an error of the API. Names the URL without credentials. */
export const remoteProblem = (
  error: unknown,
  { url: from, credentials }: RemoteAddress,
): unknown => {
  const cause = error instanceof ServiceError ? error.cause : undefined;
  if (!(cause instanceof GitError)) return error;
  const url = redacted(from);
  if (cause.failure === 'timeout') {
    return new ServiceError('codehost_timeout', `${url} did not answer in time. Try again later.`, {
      cause,
    });
  }
  if (cause.failure !== 'failed') return error;
  const known = KNOWN.find(({ words }) => words.test(cause.stderr));
  if (known === undefined) return error;
  const detail = known.detail(url, credentials?.password !== undefined);
  return new ServiceError(known.code, `${detail} git reports: ${said(cause.stderr)}`, { cause });
};

// git prints the server's answer before the state of the connection.
const said = (stderr: string): string =>
  firstLines(
    stderr
      .split('\n')
      .filter((line) => !/^(hint|remote: *$)/.test(line.trim()))
      .join('\n'),
  );

interface Known {
  words: RegExp;
  code: ErrorCode;
  detail: (url: string, given: boolean) => string;
}

const HELPER =
  'Log in with your own git (a credential helper in your global configuration, or ssh-agent). Credential helpers of the repository are not used.';

/** Matches the messages of a command that did not connect, so that nothing was sent. */
export const NOT_CONNECTED =
  /could not resolve|failed to connect|couldn't connect|connection refused|no route to host|network is unreachable/i;

const UNREACHABLE: Omit<Known, 'words'> = {
  code: 'codehost_unreachable',
  detail: (url) => `${url} cannot be reached, or the connection broke. Try again later.`,
};

// The first match counts. The patterns match messages of git, curl and ssh in the locale C.
const KNOWN: readonly Known[] = [
  {
    words: /terminal prompts disabled|could not read (Username|Password)/i,
    code: 'codehost_auth_missing',
    detail: (url) => `${url} requires a login, and git has no credential for it. ${HELPER}`,
  },
  {
    words: /Authentication failed|error: 401|Permission denied \(|Host key verification failed/i,
    code: 'codehost_auth_invalid',
    detail: (url, given) =>
      `${url} rejected ${given ? 'the token' : "git's credential for it"}. Renew it, then try again.`,
  },
  {
    words: /error: 403|access denied|insufficient permission/i,
    code: 'codehost_forbidden',
    detail: (url) => `${url} denied access. Ask for permission, or use another remote.`,
  },
  {
    words: /error: 429/i,
    code: 'codehost_rate_limited',
    detail: (url) => `${url} received too many requests. Try again later.`,
  },
  {
    words: /couldn't find remote ref (\S+)/i,
    code: 'codehost_not_found',
    detail: (url) => `${url} has no such branch. Check the name of the branch.`,
  },
  {
    words:
      /error: 404|repository '.*' not found|does not appear to be a git repository|Repository not found/i,
    code: 'codehost_not_found',
    detail: (url) =>
      `There is no repository at ${url}, or you have no access to it. Check the address.`,
  },
  {
    words: /error: 5\d\d/i,
    code: 'codehost_upstream',
    detail: (url) => `${url} failed. Try again later.`,
  },
  {
    words: /is this a git repository\?|invalid server response|bad line length|protocol error: /i,
    code: 'codehost_upstream',
    detail: (url) =>
      `${url} is not a git server; a proxy or a login page may have answered. Check the address.`,
  },
  {
    words: /Operation (too slow|timed out)|Connection timed out|timed out/i,
    code: 'codehost_timeout',
    detail: (url) => `${url} did not answer in time. Try again later.`,
  },
  { words: NOT_CONNECTED, ...UNREACHABLE },
  {
    words:
      /connection (reset|closed)|empty reply|early EOF|hung up|unexpected disconnect|RPC failed|transfer closed|recv failure|send failure/i,
    ...UNREACHABLE,
  },
  {
    words: /transport '.*' not allowed/i,
    code: 'invalid_state',
    detail: (url) => `${url} has an unsupported protocol. Use https, http, ssh, git or a path.`,
  },
];

/** The error of a push that git or the remote refused, or whose connection broke. */
export const refusedPush = (
  { code, stdout, stderr }: GitResult,
  { address, ref }: { address: RemoteAddress; ref: string },
): unknown => {
  const cause = new GitError({ args: ['push'], failure: 'failed', exit_code: code, stderr });
  const [, why] = /^!\t[^\t]*\t(.*)$/m.exec(stdout.toString('utf8')) ?? [];
  const url = redacted(address.url);
  if (why === undefined) return remoteProblem(gitProblem(cause), address);
  if (/\[rejected\]|fetch first|non-fast-forward|stale info|cannot lock ref/.test(why)) {
    return new ServiceError(
      'remote_moved',
      `${ref} on ${url} has changed (${why}). Nothing was overwritten. Fetch it, check the new commits, then try again.`,
      { cause },
    );
  }
  const remarks = cause.stderr.split('\n').filter((line) => /^remote: *\S/.test(line));
  return new ServiceError(
    'push_refused',
    `${url} refused the push (${why}). Nothing was changed. Check its rules. ${firstLines(remarks.join('\n'))}`.trim(),
    { cause },
  );
};
