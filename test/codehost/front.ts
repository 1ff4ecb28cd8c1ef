/** The fake's one handler: what every request goes through on its way to an answer. */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { restAnswer } from './api.ts';
import { type Failing, type Failures, failureAnswer } from './failures.ts';
import { documentFaults, graphqlAnswer } from './graphql/answer.ts';
import type { Judge } from './judge.ts';
import { type Answer, type Ask, refused } from './rest.ts';
import { routeOf } from './templates.ts';
import type { Tripwire } from './tripwire.ts';
import type { Attached, World } from './world.ts';

/** A request as it came. */
export interface Recorded {
  method: string;
  /** Without the query, and without the prefix of an Enterprise server. */
  path: string;
  /** The path with its names and numbers taken out. */
  route: string;
  query: Record<string, string>;
  body: unknown;
  /** Without the credentials. */
  headers: Record<string, string>;
  /** Whose token it was; nobody's when it is unknown. */
  login: string | undefined;
  /** Whether it came without any. */
  anonymous: boolean;
  /** What was answered; nothing while it waits, or when the connection was cut. */
  status?: number;
}

export interface Front {
  world: World;
  judge: Judge;
  tripwire: Tripwire;
  failures: Failures;
  requests: Recorded[];
  /** An Enterprise server has its API below a prefix, GitHub has not. */
  enterprise: boolean;
}

export const serveFront =
  (front: Front) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    try {
      for await (const part of request) parts.push(part);
      await respond(front, request, { response, raw: Buffer.concat(parts).toString('utf8') });
    } catch (error) {
      // A client may leave while it sends.
      if (request.complete) defect(front, response, error);
    }
  };

/** A defect of the fake is no answer of GitHub's: it fails the test. */
const defect = ({ judge }: Front, response: ServerResponse, error: unknown): void => {
  const said = `the fake itself: ${error instanceof Error ? error.stack : error}`;
  judge.finding(said);
  if (response.headersSent) response.destroy();
  else response.writeHead(500).end(said);
};

interface Exchange {
  response: ServerResponse;
  raw: string;
}

const respond = async (
  front: Front,
  request: IncomingMessage,
  { response, raw }: Exchange,
): Promise<void> => {
  const { world, requests, failures, tripwire } = front;
  const recorded = recordedOf(front, request, raw);
  requests.push(recorded);
  const attached = world.attached.get(recorded.path);
  if (attached !== undefined) {
    recorded.status = serveAttached(response, attached, recorded.login);
    return;
  }
  const { method, path, body } = recorded;
  const send = (answer: Answer): void => {
    recorded.status = write(world, { request, response }, answer);
  };
  if (tripwire.trips(method, path, body)) {
    send(refused(500, 'This must never be asked of a code host'));
    return;
  }
  judgeRequest(front, recorded);
  const failing = failures.take(method, path, body);
  if (failing === undefined) send(await answered(front, recorded));
  else await fail(front, failing, { recorded, response, send });
};

const serveAttached = (
  response: ServerResponse,
  { body, type = 'image/png', location, ...attached }: Attached,
  login: string | undefined,
): number => {
  const refuses = attached.private === true && login === undefined;
  const found = location === undefined ? 200 : 302;
  const status = refuses ? 404 : found;
  response.writeHead(status, { 'content-type': type, ...(!refuses && location && { location }) });
  response.end(refuses ? undefined : body);
  return status;
};

const fail = async (
  front: Front,
  { how, when, released }: Failing,
  {
    recorded,
    response,
    send,
  }: { recorded: Recorded; response: ServerResponse; send(a: Answer): void },
): Promise<void> => {
  const real =
    when === 'after' || how === 'truncated' ? await answered(front, recorded) : undefined;
  const answer = failureAnswer(how, front.world);
  if (answer !== undefined) send(answer);
  else if (how === 'silence')
    await released.then(async () => send(real ?? (await answered(front, recorded))));
  else if (how === 'truncated') truncate(response, real);
  else response.socket?.resetAndDestroy();
};

const truncate = (response: ServerResponse, answer: Answer | undefined): void => {
  const text = JSON.stringify(answer?.body ?? {});
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.write(text.slice(0, Math.floor(text.length / 2)), () => response.destroy());
};

const HIDDEN = new Set(['authorization', 'proxy-authorization', 'cookie']);

const recordedOf = (front: Front, request: IncomingMessage, raw: string): Recorded => {
  const url = new URL(request.url ?? '/', 'http://host.example');
  const path = unprefixed(front, url.pathname);
  const headers = Object.entries(request.headers).filter(([name]) => !HIDDEN.has(name));
  return {
    method: request.method ?? 'GET',
    path,
    route: routeOf(path),
    query: Object.fromEntries(url.searchParams),
    body: bodyOf(raw),
    headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
    login: front.world.credentials.get(tokenOf(request))?.login,
    anonymous: request.headers.authorization === undefined,
  };
};

/** A path outside of the API of this kind of server is that of a page. */
const unprefixed = ({ enterprise }: Front, path: string): string => {
  if (!enterprise) return path;
  if (path === '/api/graphql') return '/graphql';
  const [, rest] = /^\/api\/v3(\/.*)$/.exec(path) ?? [];
  return rest ?? `/page${path}`;
};

const bodyOf = (raw: string): unknown => {
  if (raw === '') return undefined;
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
};

const tokenOf = ({ headers }: IncomingMessage): string => {
  const [, scheme = '', value = ''] = /^(\S+) +(.*)$/.exec(headers.authorization ?? '') ?? [];
  if (scheme.toLowerCase() !== 'basic') return value;
  return Buffer.from(value, 'base64').toString().split(':').slice(1).join(':');
};

const isPublicRead = ({ method, path }: Recorded): boolean =>
  method === 'GET' && /^\/(repos|repositories)\//.test(path);

const askOf = ({ method, path, query, body, login }: Recorded): Ask => ({
  ...{ method, path, query: new URLSearchParams(query), body },
  login: login ?? 'stranger',
});

/** Whatever becomes of it. */
const judgeRequest = ({ judge }: Front, recorded: Recorded): void => {
  // GitHub refuses a request that does not say what sends it.
  if (recorded.headers['user-agent'] === undefined) judge.finding('a request has no user-agent');
  if (recorded.path !== '/graphql') judge.request(askOf(recorded));
  else for (const fault of documentFaults(recorded.body)) judge.finding(`GraphQL: ${fault}`);
};

/** The answer when nothing fails on the way, judged. */
const answered = async (front: Front, recorded: Recorded): Promise<Answer> => {
  const { world, judge } = front;
  const { path, body, login } = recorded;
  const isAnonymous = recorded.anonymous;
  if (login === undefined && !(isAnonymous && isPublicRead(recorded))) {
    return refused(401, isAnonymous ? 'Requires authentication' : 'Bad credentials');
  }
  world.rate.remaining = Math.max(0, world.rate.remaining - 1);
  if (path === '/graphql') {
    return graphqlAnswer(world, login ?? '', body);
  }
  const ask = askOf(recorded);
  const answer = await restAnswer(world, ask);
  judge.answer(ask, answer);
  return answer;
};

const write = (
  world: World,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  answer: Answer,
): number => {
  const text = typeof answer.body === 'string' ? answer.body : bodyText(answer.body);
  const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`;
  const isRead = request.method === 'GET' && answer.status === 200;
  const isKnown = isRead && request.headers['if-none-match'] === etag;
  const status = isKnown ? 304 : answer.status;
  const headers = {
    ...hostHeaders(world, request),
    ...(isRead ? { etag } : {}),
    ...answer.headers,
  };
  const given = Object.entries(headers).filter(([, value]) => value !== '');
  response.writeHead(status, Object.fromEntries(given));
  response.end(isKnown ? undefined : text);
  return status;
};

const bodyText = (body: unknown): string => (body === undefined ? '' : JSON.stringify(body));

const hostHeaders = (world: World, request: IncomingMessage): Record<string, string> => {
  const { rate, credentials } = world;
  const credential = credentials.get(tokenOf(request));
  return {
    'x-github-request-id': randomUUID().toUpperCase(),
    'x-github-media-type': 'github.v3; format=json',
    'x-ratelimit-limit': String(rate.limit),
    'x-ratelimit-remaining': String(rate.remaining),
    'x-ratelimit-used': String(rate.limit - rate.remaining),
    'x-ratelimit-reset': String(rate.reset),
    'x-ratelimit-resource': 'core',
    'x-oauth-scopes': credential?.scopes ?? '',
    'github-authentication-token-expiration': credential?.expires ?? '',
  };
};
