import { ServiceError } from '../../errors.ts';
import { text } from '../../text/unknown-json.ts';
import type { TokenSource } from '../code-host.ts';
import { isSameServer } from './address.ts';
import type { Headers, HostAnswer, RequestContext } from './failure.ts';
import { mayBeMade, unusable } from './usable.ts';

/** Creates the error for one kind of response. */
export type Make = (told: HostAnswer, question: RequestContext, now: Date) => ServiceError;

export const rateLimited: Make = ({ headers, message }, { host }, now) => {
  const seconds = secondsUntilFree(headers, now);
  const reset_at = new Date(now.getTime() + seconds * 1000).toISOString();
  const resource = text(headers['x-ratelimit-resource']) ?? null;
  return new ServiceError(
    'codehost_rate_limited',
    `The rate limit of ${host} for this token is reached${quoted(message)} Try again after ${reset_at}.`,
    { headers: { 'retry-after': String(seconds) }, members: { reset_at, resource } },
  );
};

// GitHub advises to wait a minute if the response names no time.
const secondsUntilFree = (headers: Headers, now: Date): number => {
  const wait = Number(headers['retry-after']);
  if (wait > 0) return Math.min(Math.ceil(wait), LONGEST_WAIT_S);
  const reset = Number(headers['x-ratelimit-reset']);
  const until = Math.ceil(reset - now.getTime() / 1000);
  return String(headers['x-ratelimit-remaining']) === '0' && until > 0
    ? Math.min(until, LONGEST_WAIT_S)
    : 60;
};

// GitHub's limits are reset within an hour; a longer time is not believed.
const LONGEST_WAIT_S = 24 * 60 * 60;

export const movedRefusal: Make = ({ headers }, { host, base, about, write }) => {
  const moved_to = text(headers.location) ?? null;
  const extra = { members: { moved_to } };
  if (moved_to !== null && !isSameServer(moved_to, base)) {
    return new ServiceError(
      'codehost_gateway',
      `${host} redirected to another server, perhaps a proxy or a login page. The redirect was not followed. Check your network, then try again.`,
      extra,
    );
  }
  const nothing = write ? 'Nothing was written. ' : '';
  return new ServiceError(
    'codehost_gone',
    `${first(about)} has moved on ${host}. ${nothing}GET /api/codehost/repo/validate returns the new name of the repository; set it (git remote set-url, or codehost in workspace.md), then try again.`,
    extra,
  );
};

export const notGitHub: Make = ({ status }, { host, about, write }) => {
  // A gateway that times out may have forwarded the write; one that refuses it (4xx) has not.
  const isOpen = write && (status < 400 || status === 408 || status >= 500);
  return new ServiceError(
    'codehost_gateway',
    `The response for ${host} (${status}) is not from GitHub, perhaps from a proxy or a login page. ${isOpen ? mayBeMade(about, host) : 'Check HTTPS_PROXY, api_url and your network, then try again.'}`,
    { members: { host_status: status, ...outcome(isOpen) } },
  );
};

export const unauthorized: Make = ({ message }, { host, source }) =>
  source === null
    ? tokenMissing(host)
    : new ServiceError(
        'codehost_auth_invalid',
        `${host} rejected the token of ${source}${quoted(message)} ${renewal(host, source)}`,
        { members: { token_source: source } },
      );

/** There is no token for a host. */
export const tokenMissing = (host: string): ServiceError =>
  new ServiceError('codehost_auth_missing', `There is no token for ${host}. ${howToLogIn(host)}`);

/** How to log in to a host. */
export const howToLogIn = (host: string): string =>
  `Run gh auth login --hostname ${host}, then POST /api/codehost/auth/refresh; or start the daemon with a token in its environment.`;

const renewal = (host: string, source: TokenSource): string =>
  source === 'gh'
    ? `Run gh auth login --hostname ${host}, then POST /api/codehost/auth/refresh.`
    : `Start the daemon with another ${source}, or without it to use the token of gh.`;

export const ssoRequired: Make = ({ headers }, { host, about }) => {
  const [, sso_url = null] = /url=(\S+)/.exec(String(headers['x-github-sso'] ?? '')) ?? [];
  const where = sso_url ?? `the token's page in your settings on ${host} (Configure SSO)`;
  return new ServiceError(
    'codehost_sso_required',
    `The organization of ${about} requires single sign-on. Open ${where}, authorize the token, then try again.`,
    { members: { sso_url } },
  );
};

export const forbidden: Make = ({ headers, message }, { host, about, source, needs }) => {
  const accepted =
    text(headers['x-accepted-github-permissions']) ??
    text(headers['x-accepted-oauth-scopes']) ??
    null;
  const wanted = [needs, accepted || undefined].filter((part) => part !== undefined).join('; ');
  return new ServiceError(
    'codehost_forbidden',
    `${host} refused access to ${about}${quoted(message)} ${wanted === '' ? '' : `It requires ${wanted}. `}${source === null ? 'Log in with a token that has the permission' : `Grant the token of ${source} the permission`}, or ask an owner for the role.`,
    { members: { accepted_permissions: wanted === '' ? null : wanted } },
  );
};

export const notFoundOnHost: Make = ({ status, message }, { host, about, graphql }) =>
  new ServiceError(
    'codehost_not_found',
    status === 404 && graphql !== undefined
      ? `${graphql} does not exist${quoted(message)} Check that api_url in workspace.md, or GITHUB_API_URL, is the URL of the API of ${host}.`
      : `${first(about)} was not found on ${host}${quoted(message)} It may be private: check the name, and the token's access with GET /api/codehost/repo/permissions.`,
  );

export const gone: Make = ({ message }, { host, about }) => {
  // GitHub answers so for the issues of a repository that has none, too.
  const isRepository = /^[^\s#]+$/.test(about);
  const what = isRepository
    ? `${host} does not offer this for ${about}${quoted(message)} Check the settings of the repository there.`
    : `${host} reports that ${about} is gone${quoted(message)} Check it there. If a file of the Work item names it, correct that: link.md for an issue, pr/pr.md for a pull request.`;
  return new ServiceError('codehost_gone', what, { members: { moved_to: null } });
};

// A read changes nothing: GitHub refuses one so where, for example, a repository is empty.
export const conflicting: Make = (told, question, now) =>
  question.write
    ? new ServiceError(
        'codehost_conflict',
        `${first(question.about)} has changed on ${question.host}${quoted(told.message)} Read it again, then repeat the change.`,
      )
    : rejected(told, question, now);

export const hostFailed: Make = ({ status, message }, { host, about, write }) =>
  new ServiceError(
    'codehost_upstream',
    `${host} failed (${status})${quoted(message)} ${write ? mayBeMade(about, host) : 'Try again later.'}`,
    { members: { host_status: status, ...outcome(write) } },
  );

export const rejected: Make = ({ status, message, details, types }, { host, about }) => {
  const host_errors = details.length > 0 ? details : [message].filter(Boolean);
  const what = [message, ...details].filter(Boolean).join(': ');
  return new ServiceError(
    'codehost_rejected',
    `${host} rejected the request for ${about}${quoted(what)} It changed nothing. Correct the request, then try again.`,
    { members: { host_status: status, host_errors, ...(types.length > 0 && { types }) } },
  );
};

const outcome = (open: boolean): { outcome?: 'unknown' } => (open ? { outcome: 'unknown' } : {});

// At the beginning of a sentence; the name of a repository stays as it is.
const first = (about: string): string => about.replace(/^t(?=he |his )/, 'T');

// GitHub's message in parentheses, if there is one.
const quoted = (message: string): string => {
  const words = message.replace(/\s+/g, ' ').trim().slice(0, 500);
  return words === '' ? '.' : ` (${words}).`;
};

/** The host did not respond in time. */
export const timedOut = (seconds: number, { host, about, write }: RequestContext): ServiceError =>
  new ServiceError(
    'codehost_timeout',
    `${host} did not respond within ${seconds} s. ${write ? mayBeMade(about, host) : 'Try again later.'}`,
    { members: outcome(write) },
  );

/** The host sent more than an answer of its API can have. */
export const tooLarge = (bytes: number, { host, about, write }: RequestContext): ServiceError =>
  unusable(host, about, `it has more than ${bytes >> 20} MiB`, { write });

// Errors that occur before the request is sent.
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ENETDOWN',
]);

/** The connection failed or broke. */
export const unreachable = (
  cause: unknown,
  { host, base, about, write }: RequestContext,
): ServiceError => {
  const { code, message } = deepest(cause);
  const host_status = refusedByProxy(code, message);
  if (host_status !== undefined) {
    const detail = `The proxy for ${host} refused the connection (${host_status}). Check HTTPS_PROXY and its credentials.`;
    return new ServiceError('codehost_gateway', detail, { members: { host_status } });
  }
  const open = write && !UNSENT.has(code);
  return new ServiceError(
    'codehost_unreachable',
    `${host} cannot be reached at ${base} (${code || message || 'the connection broke'}). ${open ? mayBeMade(about, host) : 'Check your network, and HTTPS_PROXY if you need a proxy, then try again.'}`,
    { members: outcome(open) },
  );
};

// fetch reports a 407 as an error without code and message.
const refusedByProxy = (code: string, message: string): number | undefined => {
  if (code === '' && message === '') return 407;
  const [, status] = /Proxy response \(?(\d+)\)?/i.exec(message) ?? [];
  return status === undefined ? undefined : Number(status);
};

const DEEPEST = 5;

const deepest = (error: unknown, depth = 0): { code: string; message: string } => {
  const { code, message, cause, errors } = (error ?? {}) as NodeJS.ErrnoException & {
    errors?: unknown[];
  };
  const inner = cause ?? errors?.[0];
  if (inner !== undefined && depth < DEEPEST) return deepest(inner, depth + 1);
  return { code: code ?? '', message: message ?? '' };
};
