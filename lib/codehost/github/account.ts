import {
  type AuthRefresh,
  type AuthStatus,
  type Availability,
  HostUser,
  type RateLimit,
} from '../../../store/records/code-host.ts';
import { type ErrorCode, ServiceError } from '../../errors.ts';
import { text } from '../../text/unknown-json.ts';
import type { HostContext } from './client.ts';
import type { Headers } from './failure.ts';
import { howToLogIn, tokenMissing } from './refusals.ts';
import { type Token, tokenKind } from './tokens.ts';
import { checked, unusable } from './usable.ts';

/** Whether gh is installed and a token is accepted. Never throws for these results. */
export const availability = async (context: HostContext, host: string): Promise<Availability> => {
  const version = await context.gh.version().catch(() => undefined);
  const { authenticated, token, reason } = await probe(context, host);
  return {
    host,
    cli: { installed: context.gh.program() !== undefined, version: version ?? null },
    authenticated,
    token_source: token?.source ?? null,
    ...(reason !== undefined && { reason }),
  };
};

const VERDICTS = { yes: true, no: false, unknown: null } as const;

/** The user and the scopes of the token; distinguishes no token, an invalid token and an unreachable host. */
export const authStatus = async (context: HostContext, host: string): Promise<AuthStatus> => {
  const { authenticated, token, login, headers, reason, hint } = await probe(context, host);
  return {
    authenticated: VERDICTS[authenticated],
    login: login ?? null,
    token_source: token?.source ?? null,
    token_kind: token === undefined ? null : tokenKind(token),
    scopes: scopesIn(headers),
    expires_at: expiryIn(headers),
    rate_limit: rateIn(headers),
    ...(reason !== undefined && { reason }),
    ...(hint !== undefined && { hint }),
  };
};

/** Reads the token again. 422 where there is none: `codehost_cli_missing` or `codehost_auth_missing`. */
export const authRefresh = async (context: HostContext, host: string): Promise<AuthRefresh> => {
  const before = await context.tokens.of(host);
  const token = await context.tokens.renew(host, before);
  if (token === undefined)
    throw context.gh.program() === undefined ? noCli(host) : tokenMissing(host);
  const { authenticated, login = null } = await probe(context, host);
  const changed = token.value !== before?.value;
  return { changed, token_source: token.source, login, verified: VERDICTS[authenticated] };
};

const noCli = (host: string): ServiceError =>
  new ServiceError(
    'codehost_cli_missing',
    `There is no token for ${host}, and gh is not installed. Install it (https://cli.github.com) and run gh auth login --hostname ${host}; or start the daemon with a token in its environment.`,
  );

/** The user that the token belongs to. */
export const me = async (context: HostContext, host: string): Promise<HostUser> => {
  const { api } = await context.client(host);
  const { data } = await api.request('GET /user');
  const user = { login: data.login, name: data.name ?? null, url: data.html_url };
  return checked(HostUser, user, (why) => unusable(host, 'the user', why));
};

interface Probe {
  authenticated: 'yes' | 'no' | 'unknown';
  token?: Token | undefined;
  login?: string;
  headers: Headers;
  reason?: string;
  hint?: string;
}

const probe = async (context: HostContext, host: string): Promise<Probe> => {
  try {
    const token = await context.tokens.of(host);
    if (token === undefined) {
      const hint = howToLogIn(host);
      return { authenticated: 'no', headers: {}, reason: 'no_token', hint };
    }
    return await ask(context, host);
  } catch (error) {
    const token = await context.tokens.of(host).catch(() => undefined);
    return { ...verdict(error), token };
  }
};

const ask = async (context: HostContext, host: string): Promise<Probe> => {
  const { api } = await context.client(host);
  const { data, headers } = await api.request('GET /user');
  const token = await context.tokens.of(host);
  const login = text(data.login);
  return { authenticated: 'yes', token, ...(login && { login }), headers: headers as Headers };
};

const REASONS: Partial<Record<ErrorCode, string>> = {
  codehost_unreachable: 'unreachable',
  codehost_timeout: 'timeout',
  codehost_gateway: 'gateway',
  codehost_upstream: 'host_failed',
  codehost_rate_limited: 'rate_limited',
  tool_timeout: 'gh_timeout',
  unavailable: 'gh_failed',
  invalid_state: 'misconfigured',
};

// Only GitHub's own answer counts. A 403 means a valid token without a user, such as an app's.
const verdict = (error: unknown): Probe => {
  if (!(error instanceof ServiceError)) throw error;
  const { code, message: hint } = error;
  if (code === 'codehost_auth_invalid')
    return { authenticated: 'no', headers: {}, reason: 'invalid_token', hint };
  if (code === 'codehost_forbidden') return { authenticated: 'yes', headers: {} };
  return { authenticated: 'unknown', headers: {}, reason: REASONS[code] ?? code, hint };
};

/** The scopes of a classic token; null for other tokens. */
export const scopesIn = (headers: Headers): string[] | null => {
  const scopes = text(headers['x-oauth-scopes']);
  if (scopes === undefined) return null;
  return scopes.split(/, */).filter(Boolean);
};

const expiryIn = (headers: Headers): string | null => {
  const told = text(headers['github-authentication-token-expiration']) ?? '';
  const time = new Date(told.replace(/^(\S+) (\S+) (UTC|\+0000)$/, '$1T$2Z'));
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
};

const rateIn = (headers: Headers): RateLimit | null => {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(headers[`x-ratelimit-${name}`] ?? Number.NaN),
  );
  if (!limit || remaining === undefined || !reset) return null;
  const time = new Date(reset * 1000);
  return Number.isNaN(time.getTime()) ? null : { limit, remaining, reset_at: time.toISOString() };
};
