import type { Octokit } from '@octokit/core';
import { lockOn } from '../../../store/base/locks.ts';
import type { Locks } from '../../../store/base/mutex.ts';
import { notePlaced } from '../../../store/base/write-stage.ts';
import type { ServiceError } from '../../errors.ts';
import { record } from '../../text/unknown-json.ts';
import { classifyRequest, type Effect, graphqlUrl, type HostRequest } from './allow-list.ts';
import type { Failure, Headers, RequestContext } from './failure.ts';
import { isWanted, TimedOut } from './fetch.ts';
import { hasErrorCode, problemFrom } from './problem.ts';
import { tokenMissing } from './refusals.ts';
import type { Token, Tokens } from './tokens.ts';

/** One host, and what a request to it goes through. */
export interface Door {
  host: string;
  /** Of its API. */
  base: string;
  tokens: Tokens;
  locks: Locks;
}

type Answer = Awaited<ReturnType<Octokit['request']>>;

/** As Octokit's hooks send a request on. It goes with the options that it came with, whatever is given here. */
type Send<Options> = (options: Options) => Answer | Promise<Answer>;

/**
 * The one way out: what is not allowed throws before anything leaves; one write at a time; with the token of the host; a
 * read once more when the host does not take the token and there is a newer one; and every failure as a ServiceError.
 */
export const guarded =
  (door: Door) =>
  <Options extends object>(send: Send<Options>, options: Options): Promise<Answer> => {
    const asked = options as unknown as HostRequest;
    const effect = classifyRequest(asked, door.base);
    const attempt = (token: Token | undefined): Promise<Answer> =>
      once({ door, asked, effect, token }, async () => send(options));
    const work = (): Promise<Answer> => withToken(door, { asked, effect }, attempt);
    if (effect !== 'write') return work();
    notePlaced(door.base);
    return door.locks.take(lockOn.host(door.host), work);
  };

interface Request {
  asked: HostRequest;
  effect: Effect;
}

const withToken = async (
  { host, tokens }: Door,
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
  { door, asked, effect, token }: Request & { door: Door; token: Token | undefined },
  send: () => Promise<Answer>,
): Promise<Answer> => {
  const question = contextOf(door, placeOf(asked), token);
  const failed = (failure: Failure): ServiceError =>
    problemFrom(failure, { ...question, ...graphqlOf(asked, door), write: effect === 'write' });
  Object.assign(asked, {
    headers: {
      ...asked.headers,
      'x-github-api-version': VERSION,
      ...(token !== undefined && { authorization: `Bearer ${token.value}` }),
    },
    // Whoever repeats a write makes two of it. A number for a read would overrule which answers are final.
    request: { ...record(asked.request), ...(effect !== 'read' && { retries: 0 }) },
  });
  const answer = await send().catch((error: unknown) => {
    const failure = failureOf(error);
    throw failure === undefined ? error : failed(failure);
  });
  if (isWhole(answer) || isWanted(answer.status, record(asked.request))) return answer;
  const { status, headers, data } = answer;
  throw failed({ kind: 'answer', status, headers, body: data });
};

const graphqlOf = ({ url }: HostRequest, { base }: Door): Pick<RequestContext, 'graphql'> =>
  url.endsWith('/graphql') ? { graphql: graphqlUrl(base) } : {};

// A page to log in at is an answer too, and so is a redirect that was not followed.
const isWhole = ({ status, data }: Answer): boolean =>
  status < 300 && (status === 204 || (typeof data === 'object' && data !== null));

const failureOf = (error: unknown): Failure | undefined => {
  if (error instanceof TimedOut) return { kind: 'timeout', seconds: error.seconds };
  if (!(error instanceof Error) || error.name !== 'HttpError') return undefined;
  const { status, response, cause } = error as Error & { status: number; response?: Answer };
  if (response === undefined) return { kind: 'silence', cause: cause ?? error };
  const { headers, data } = response;
  // GraphQL's server says that it failed with a status of 200; Octokit makes it 500.
  return { kind: 'answer', status, headers: headers as Headers, body: data };
};

/** Where in a host something is: what is asked about, in the words of its errors. */
const placeOf = ({ url, variables, ...parameters }: HostRequest): string => {
  const { owner, repo, name = repo, number, ...more } = { ...parameters, ...record(variables) };
  if (owner === undefined) return /^\/user$/.test(url) ? 'the user' : 'what was asked';
  const count = number ?? more.issue_number ?? more.pull_number;
  return `${owner}/${name}${count === undefined ? '' : `#${count}`}`;
};

/** The words of an error: by whom, and about what. */
export const contextOf = (
  { host, base }: Pick<Door, 'host' | 'base'>,
  about: string,
  token: Token | undefined,
): RequestContext => ({ host, base, about, write: false, source: token?.source ?? null });
