import { type ErrorCode, ServiceError } from '../../../errors.ts';
import { firstLines, GitError, gitProblem, redacted } from '../run/error.ts';
import type { GitResult } from '../run/git.ts';
import type { RemoteAddress } from './remote-address.ts';

/** What the caller of the API is told about a command that talked to a remote. Names the URL without credentials. */
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
  return new ServiceError(known.code, `${detail} git says: ${said(cause.stderr)}`, { cause });
};

// What the server itself answered comes first, then what became of the connection.
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
  'Log in to it once with your own git (a credential helper in your global configuration, or ssh-agent): what the repository configures is not used.';

// In this order: the first that fits. The words are git's, curl's and ssh's own in the locale C.
const KNOWN: readonly Known[] = [
  {
    words: /terminal prompts disabled|could not read (Username|Password)/i,
    code: 'codehost_auth_missing',
    detail: (url) => `${url} asks who you are, and git has no credential for it. ${HELPER}`,
  },
  {
    words: /Authentication failed|error: 401|Permission denied \(|Host key verification failed/i,
    code: 'codehost_auth_invalid',
    detail: (url, given) =>
      `${url} does not take ${given ? 'the token' : "git's credential for it"}. Renew it, then try again.`,
  },
  {
    words: /error: 403|access denied|insufficient permission/i,
    code: 'codehost_forbidden',
    detail: (url) => `${url} knows who you are and refuses. Ask for leave, or use another remote.`,
  },
  {
    words: /error: 429/i,
    code: 'codehost_rate_limited',
    detail: (url) => `${url} has had too many requests. Try again later.`,
  },
  {
    words: /couldn't find remote ref (\S+)/i,
    code: 'codehost_not_found',
    detail: (url) => `${url} has no such branch. Look at its branches, or fetch from another.`,
  },
  {
    words:
      /error: 404|repository '.*' not found|does not appear to be a git repository|Repository not found/i,
    code: 'codehost_not_found',
    detail: (url) =>
      `There is no repository at ${url}, or it is private and you may not see it. Check the address.`,
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
      `What answers at ${url} is no git server: perhaps a proxy, or a page to log in at. Check the address.`,
  },
  {
    words: /Operation (too slow|timed out)|Connection timed out|timed out/i,
    code: 'codehost_timeout',
    detail: (url) => `${url} did not answer in time. Try again later.`,
  },
  {
    words:
      /could not resolve|failed to connect|couldn't connect|connection (refused|reset|closed)|no route to host|network is unreachable|empty reply|early EOF|hung up|unexpected disconnect|RPC failed|transfer closed|recv failure|send failure/i,
    code: 'codehost_unreachable',
    detail: (url) => `${url} is out of reach, or the connection broke. Try again later.`,
  },
  {
    words: /transport '.*' not allowed/i,
    code: 'invalid_state',
    detail: (url) =>
      `${url} is not an address that is taken: https, http, ssh, git, or a path. Change the remote.`,
  },
];

/** What the caller is told of a push that the remote, or git before it asked, refused; or whose connection broke. */
export const refusedPush = (
  { code, stdout, stderr, address }: GitResult & { address: RemoteAddress },
  ref: string,
): unknown => {
  const cause = new GitError({ args: ['push'], failure: 'failed', exit_code: code, stderr });
  const [, why] = /^!\t[^\t]*\t(.*)$/m.exec(stdout.toString('utf8')) ?? [];
  const url = redacted(address.url);
  if (why === undefined) return remoteProblem(gitProblem(cause), address);
  if (/\[rejected\]|fetch first|non-fast-forward|stale info|cannot lock ref/.test(why)) {
    return new ServiceError(
      'remote_moved',
      `${ref} on ${url} is no longer what it was (${why}). Nothing was overwritten: fetch it, look at what came, and begin anew with it.`,
      { cause },
    );
  }
  const remarks = cause.stderr.split('\n').filter((line) => /^remote: *\S/.test(line));
  return new ServiceError(
    'push_refused',
    `${url} refused the push (${why}). Nothing was changed there; see what its rules ask for. ${firstLines(remarks.join('\n'))}`.trim(),
    { cause },
  );
};
