import type { Octokit } from '@octokit/core';
import { lockOn } from '../../../store/base/locks.ts';
import type { Locks } from '../../../store/base/mutex.ts';
import { recordChange } from '../../../store/base/write-stage.ts';
import type { ServiceError } from '../../errors.ts';
import { record } from '../../text/unknown-json.ts';
import { classifyRequest, type Effect, graphqlUrl, type HostRequest } from './allow-list.ts';
import type { Failure, Headers, RequestContext } from './failure.ts';
import { isWanted, TimedOut, TooLarge } from './fetch.ts';
import { hasErrorCode, problemFrom } from './problem.ts';
import { tokenMissing } from './refusals.ts';
import type { Token, Tokens } from './tokens.ts';

/** One host with its tokens and locks. */
export interface HostConnection {
  host: string;
  /** The base URL of its API. */
  base: string;
  tokens: Tokens;
  locks: Locks;
}

type Answer = Awaited<ReturnType<Octokit['request']>>;

/** The inner function of an Octokit hook. It uses the original options object, whatever is passed. */
type Send<Options> = (options: Options) => Answer | Promise<Answer>;

/**
 * The request hook for all calls: refuses requests that are not on the allow-list, serializes writes, adds the token,
 * repeats a read with a newer token if the host rejects the old one, and converts every failure to a ServiceError.
 */
export const createRequestHook =
  (connection: HostConnection) =>
  <Options extends object>(send: Send<Options>, options: Options): Promise<Answer> => {
    const asked = options as unknown as HostRequest;
    const effect = classifyRequest(asked, connection.base);
    const attempt = (token: Token | undefined): Promise<Answer> =>
      once({ connection, asked, effect, token }, async () => send(options));
    const work = (): Promise<Answer> => withToken(connection, { asked, effect }, attempt);
    if (effect !== 'write') return work();
    recordChange(connection.base);
    return connection.locks.take(lockOn.host(connection.host), work);
  };

interface Request {
  asked: HostRequest;
  effect: Effect;
}

const withToken = async (
  { host, tokens }: HostConnection,
  { asked, effect }: Request,
  attempt: (token: Token | undefined) => Promise<Answer>,
): Promise<Answer> => {
  const token = await tokens.of(host);
  if (token === undefined && record(asked.request).anonymous !== true) throw tokenMissing(host);
  try {
    return await attempt(token);
  } catch (problem) {
    if (!hasErrorCode(problem, 'codehost_auth_invalid')) throw problem;
    const next = await tokens.renew(host, token).catch(() => undefined);
    const isNew = next !== undefined && next.value !== token?.value;
    if (isNew && effect !== 'write') return attempt(next);
    throw problem;
  }
};

const VERSION = '2022-11-28';

const once = async (
  {
    connection,
    asked,
    effect,
    token,
  }: Request & { connection: HostConnection; token: Token | undefined },
  send: () => Promise<Answer>,
): Promise<Answer> => {
  const question = contextOf(connection, placeOf(asked), token);
  const failed = (failure: Failure): ServiceError =>
    problemFrom(failure, {
      ...question,
      ...graphqlOf(asked, connection),
      write: effect === 'write',
    });
  Object.assign(asked, {
    headers: {
      ...asked.headers,
      'x-github-api-version': VERSION,
      ...(token !== undefined && { authorization: `Bearer ${token.value}` }),
    },
    // A write is never retried. For reads no number is set, because it would override `doNotRetry`.
    request: { ...record(asked.request), ...(effect === 'write' && { retries: 0 }) },
  });
  const answer = await send().catch((error: unknown) => {
    const failure = failureOf(error);
    throw failure === undefined ? error : failed(failure);
  });
  if (isWhole(answer) || isWanted(answer.status, record(asked.request))) return answer;
  const { status, headers, data } = answer;
  throw failed({ kind: 'answer', status, headers, body: data });
};

const graphqlOf = (
  { url }: HostRequest,
  { base }: HostConnection,
): Pick<RequestContext, 'graphql'> =>
  url.endsWith('/graphql') ? { graphql: graphqlUrl(base) } : {};

// Rejects login pages and redirects that were not followed.
const isWhole = ({ status, data }: Answer): boolean =>
  status < 300 && (status === 204 || (typeof data === 'object' && data !== null));

const failureOf = (error: unknown): Failure | undefined => {
  if (error instanceof TimedOut) return { kind: 'timeout', seconds: error.seconds };
  if (error instanceof TooLarge) return { kind: 'too_large', bytes: error.bytes };
  if (!(error instanceof Error) || error.name !== 'HttpError') return undefined;
  const { status, response, cause } = error as Error & { status: number; response?: Answer };
  if (response === undefined) return { kind: 'unreachable', cause: cause ?? error };
  const { headers, data } = response;
  // GraphQL reports a server failure with status 200; Octokit converts it to 500.
  return { kind: 'answer', status, headers: headers as Headers, body: data };
};

/** The subject of a request for error messages, such as `acme/app#12`. */
const placeOf = ({ url, variables, request, ...parameters }: HostRequest): string => {
  const { about } = record(request);
  if (typeof about === 'string') return about;
  // GraphQL calls the repository `name`, as REST does a label.
  const { owner, name, repo = name, number, ...more } = { ...parameters, ...record(variables) };
  if (owner === undefined) return /^\/user$/.test(url) ? 'the user' : 'this request';
  const count = number ?? more.issue_number ?? more.pull_number;
  return `${owner}/${repo}${count === undefined ? '' : `#${count}`}`;
};

/** The context of a request for error messages. */
export const contextOf = (
  { host, base }: Pick<HostConnection, 'host' | 'base'>,
  about: string,
  token: Token | undefined,
): RequestContext => ({ host, base, about, write: false, source: token?.source ?? null });
