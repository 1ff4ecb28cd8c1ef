import { ServiceError } from '../../errors.ts';
import { text } from '../../text/unknown-json.ts';
import type { TokenSource } from '../code-host.ts';
import { isSameServer } from './address.ts';
import type { Headers, HostAnswer, RequestContext } from './failure.ts';

/** Makes the error of one kind of answer. */
export type Make = (told: HostAnswer, question: RequestContext, now: Date) => ServiceError;

export const limited: Make = ({ headers, message }, { host }, now) => {
  const seconds = secondsUntilFree(headers, now);
  const reset_at = new Date(now.getTime() + seconds * 1000).toISOString();
  const resource = text(headers['x-ratelimit-resource']) ?? null;
  return new ServiceError(
    'codehost_rate_limited',
    `${host} has had enough requests with this token for now${said(message)} Try again after ${reset_at}.`,
    { headers: { 'retry-after': String(seconds) }, members: { reset_at, resource } },
  );
};

// GitHub's own advice where it names no time is a minute.
const secondsUntilFree = (headers: Headers, now: Date): number => {
  const wait = Number(headers['retry-after']);
  if (wait > 0) return Math.ceil(wait);
  const reset = Number(headers['x-ratelimit-reset']);
  const until = Math.ceil(reset - now.getTime() / 1000);
  return String(headers['x-ratelimit-remaining']) === '0' && until > 0 ? until : 60;
};

export const movedRefusal: Make = ({ headers }, { host, base, about, write }) => {
  const moved_to = text(headers.location) ?? null;
  const extra = { members: { moved_to } };
  if (moved_to !== null && !isSameServer(moved_to, base)) {
    return new ServiceError(
      'codehost_gateway',
      `${host} leads to another server, which is not asked: perhaps a proxy, or a page to log in at. Look at your network, then try again.`,
      extra,
    );
  }
  const nothing = write ? 'Nothing was written there. ' : '';
  return new ServiceError(
    'codehost_gone',
    `${about} has moved on ${host}. ${nothing}GET /api/codehost/repo/validate tells where the repository is now; name that (git remote set-url, or codehost in workspace.md), then try again.`,
    extra,
  );
};

export const foreign: Make = ({ status }, { host, write }) =>
  new ServiceError(
    'codehost_gateway',
    `What answered instead of ${host} (${status}) is not GitHub: perhaps a proxy, or a page to log in at. Look at HTTPS_PROXY, at api_url and at your network, then try again.`,
    { members: { host_status: status, ...outcome(write && status < 400) } },
  );

export const unauthorized: Make = ({ message }, { host, source }) =>
  source === null
    ? tokenMissing(host)
    : new ServiceError(
        'codehost_auth_invalid',
        `${host} does not take the token of ${source}${said(message)} ${renewal(host, source)}`,
        { members: { token_source: source } },
      );

/** There is no token for a host. */
export const tokenMissing = (host: string): ServiceError =>
  new ServiceError('codehost_auth_missing', `There is no token for ${host}. ${howToLogIn(host)}`);

/** What to run to be known to a host. */
export const howToLogIn = (host: string): string =>
  `Run gh auth login --hostname ${host}, then POST /api/codehost/auth/refresh; or start the daemon with a token in its environment.`;

const renewal = (host: string, source: TokenSource): string =>
  source === 'gh'
    ? `Run gh auth login --hostname ${host}, then POST /api/codehost/auth/refresh.`
    : `Start the daemon with another ${source}, or without one, so that gh is asked.`;

export const signOn: Make = ({ headers }, { host, about }) => {
  const [, sso_url = null] = /url=(\S+)/.exec(String(headers['x-github-sso'] ?? '')) ?? [];
  const where = sso_url ?? `the token's page in your settings on ${host} (Configure SSO)`;
  return new ServiceError(
    'codehost_sso_required',
    `The organisation of ${about} asks for single sign-on. Open ${where}, let the token in, then try again.`,
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
    `${host} knows who you are and refuses ${about}${said(message)} ${wanted === '' ? '' : `It asks for ${wanted}. `}Give the token of ${source ?? 'nobody'} that permission, or ask an owner for the role.`,
    { members: { accepted_permissions: wanted === '' ? null : wanted } },
  );
};

export const absent: Make = ({ status, message }, { host, about, graphql }) =>
  new ServiceError(
    'codehost_not_found',
    status === 404 && graphql !== undefined
      ? `${graphql} is not there${said(message)} See that api_url in workspace.md, or GITHUB_API_URL, is where the API of ${host} is.`
      : `${host} shows no ${about}${said(message)} What is private looks the same to a token that may not see it: check the name, and the token's access with GET /api/codehost/repo/permissions.`,
  );

export const gone: Make = ({ message }, { host, about }) =>
  new ServiceError(
    'codehost_gone',
    `${about} is gone from ${host}${said(message)} Link the Work item to another, or go on without.`,
    { members: { moved_to: null } },
  );

export const conflicting: Make = ({ message }, { host, about }) =>
  new ServiceError(
    'codehost_conflict',
    `${about} is not what it was on ${host}${said(message)} Read it again, then decide anew.`,
  );

export const failing: Make = ({ status, message }, { host, write }) =>
  new ServiceError(
    'codehost_upstream',
    `${host} failed (${status})${said(message)} ${write ? UNKNOWN : 'Try again later.'}`,
    { members: { host_status: status, ...outcome(write) } },
  );

export const rejected: Make = ({ status, message, details, types }, { host, about }) => {
  const host_errors = details.length > 0 ? details : [message].filter(Boolean);
  const what = [message, ...details].filter(Boolean).join(': ');
  return new ServiceError(
    'codehost_rejected',
    `${host} refused this for ${about}${said(what)} Nothing was changed there; mend what it names, then try again.`,
    { members: { host_status: status, host_errors, ...(types.length > 0 && { types }) } },
  );
};

/** What is said of a write that may have been done. */
const UNKNOWN = 'Nobody knows whether it was done: look there before you try again.';

const outcome = (open: boolean): { outcome?: 'unknown' } => (open ? { outcome: 'unknown' } : {});

// A sentence of GitHub's, in brackets, or nothing.
const said = (message: string): string => {
  const words = message.replace(/\s+/g, ' ').trim().slice(0, 500);
  return words === '' ? '.' : ` (${words}).`;
};

/** Nothing came within the time. */
export const timedOut = (seconds: number, { host, write }: RequestContext): ServiceError =>
  new ServiceError(
    'codehost_timeout',
    `${host} did not answer within ${seconds} s. ${write ? UNKNOWN : 'Try again later.'}`,
    { members: outcome(write) },
  );

// By these nothing was sent yet.
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ENETDOWN',
]);

/** No connection came about, or it broke. */
export const silence = (cause: unknown, { host, base, write }: RequestContext): ServiceError => {
  const { code, message } = deepest(cause);
  const host_status = refusedByProxy(code, message);
  if (host_status !== undefined) {
    const detail = `The proxy on the way to ${host} refused (${host_status}). Look at HTTPS_PROXY and the login it asks for.`;
    return new ServiceError('codehost_gateway', detail, { members: { host_status } });
  }
  const open = write && !UNSENT.has(code);
  return new ServiceError(
    'codehost_unreachable',
    `${host} is out of reach at ${base} (${code || message || 'the connection broke'}). ${open ? UNKNOWN : 'Look at the network, and at HTTPS_PROXY if you need one; then try again.'}`,
    { members: outcome(open) },
  );
};

// An error of fetch that has neither a code nor words is what it makes of a 407.
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
