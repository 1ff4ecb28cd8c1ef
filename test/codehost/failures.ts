import { type Answer, json, refused } from './rest.ts';
import type { World } from './world.ts';

/** How a host, a network or a proxy on the way lets a client down. */
export type Failure =
  | keyof typeof ANSWERS
  /** The connection ends without an answer. */
  | 'reset'
  /** It ends in the middle of the answer. */
  | 'truncated'
  /** There is no answer until `release()`, or the test's end. */
  | 'silence'
  | Answer;

export interface Where {
  method?: string;
  /** A part of the path, or an expression for it; `/graphql` too. */
  path?: string | RegExp;
  /** A part of the GraphQL document: the name of a mutation, or of an operation. */
  graphql?: string;
  /** How often; once if nothing is said. */
  times?: number;
  /** `after`: what was asked has taken effect, and only the answer fails. */
  when?: 'before' | 'after';
}

export interface Planned {
  /** How many requests met it. */
  hits: number;
  /** Resolves when the first did. */
  met: Promise<void>;
  /** Ends the silence: those who wait are answered now as if nothing had been. */
  release(): void;
}

export interface Failing {
  how: Failure;
  when: 'before' | 'after';
  released: Promise<void>;
}

export interface Failures {
  fail(how: Failure, where?: Where): Planned;
  /** The failure that this request meets, which is then one less to come. */
  take(method: string, path: string, body: unknown): Failing | undefined;
}

export const planFailures = (): Failures => {
  const plans: Plan[] = [];
  return {
    fail: (how, where = {}) => {
      const plan = planOf(how, where);
      plans.push(plan);
      return plan.told;
    },
    take: (method, path, body) => {
      const plan = plans.find(
        ({ left, where }) => left > 0 && meets(where, { method, path, body }),
      );
      if (plan === undefined) return undefined;
      plan.left -= 1;
      plan.told.hits += 1;
      plan.tell();
      return { how: plan.how, when: plan.where.when ?? 'before', released: plan.released };
    },
  };
};

interface Plan {
  how: Failure;
  where: Where;
  left: number;
  told: Planned;
  tell: () => void;
  released: Promise<void>;
}

const planOf = (how: Failure, where: Where): Plan => {
  let tell = (): void => undefined;
  let release = (): void => undefined;
  const met = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const told: Planned = { hits: 0, met, release };
  return { how, where, left: where.times ?? 1, told, tell, released };
};

const meets = (
  { method, path, graphql }: Where,
  asked: { method: string; path: string; body: unknown },
): boolean => {
  if (method !== undefined && method !== asked.method) return false;
  if (graphql !== undefined) return queryOf(asked.body).includes(graphql);
  if (path === undefined) return true;
  return typeof path === 'string' ? asked.path.includes(path) : path.test(asked.path);
};

const queryOf = (body: unknown): string =>
  String((body as { query?: unknown } | undefined)?.query ?? '');

/** The answer of a failure that has one. */
export const failureAnswer = (how: Failure, world: World): Answer | undefined => {
  if (typeof how !== 'string') return how;
  if (how === 'reset' || how === 'truncated' || how === 'silence') return undefined;
  return ANSWERS[how](world);
};

const HTML = { 'content-type': 'text/html; charset=utf-8' };
const page = (status: number, title: string, headers: Answer['headers'] = {}): Answer => ({
  status,
  headers: { ...HTML, ...headers },
  body: `<!doctype html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`,
});

const headed = (answer: Answer, headers: Answer['headers']): Answer => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
});

// A proxy's answer is not GitHub's, and has no number of a request.
const BY_PROXY = { 'x-github-request-id': '' };

const limited = (status: number, { rate }: World): Answer =>
  headed(refused(status, 'API rate limit exceeded for user ID 1.'), {
    'x-ratelimit-limit': String(rate.limit),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-used': String(rate.limit),
    'x-ratelimit-reset': String(rate.reset),
    'x-ratelimit-resource': 'core',
  });

const SECONDARY =
  'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
const secondary = (status: number): Answer =>
  headed(refused(status, SECONDARY), { 'retry-after': '60' });

const graphqlError = (type: string, message: string): Answer =>
  json({ data: null, errors: [{ type, message, path: [], locations: [{ line: 1, column: 1 }] }] });

const ANSWERS = {
  'bad credentials': () => refused(401, 'Bad credentials'),
  'proxy 401': () => page(401, 'Authorization Required', BY_PROXY),
  'proxy 407': () => page(407, 'Proxy Authentication Required', BY_PROXY),
  forbidden: () =>
    headed(refused(403, 'Resource not accessible by personal access token'), {
      'x-accepted-github-permissions': 'pull_requests=write',
    }),
  sso: () =>
    headed(
      refused(
        403,
        'Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.',
      ),
      {
        'x-github-sso':
          'required; url=https://github.com/orgs/acme/sso?authorization_request=A1B2C3',
      },
    ),
  'rate limit': (world: World) => limited(403, world),
  'rate limit 429': (world: World) => limited(429, world),
  'secondary limit': () => secondary(403),
  'secondary limit 429': () => secondary(429),
  'not found': () => refused(404, 'Not Found'),
  gone: () => refused(410, 'This issue was deleted'),
  conflict: () => refused(409, 'Conflict'),
  rejected: () =>
    refused(422, 'Validation Failed', [
      { resource: 'PullRequest', field: 'title', code: 'missing_field' },
    ]),
  'drafts unsupported': () =>
    refused(422, 'Draft pull requests are not supported in this repository.'),
  'server error': () => page(500, 'Looks like something went wrong!'),
  'bad gateway': () => page(502, '502 Bad Gateway'),
  unavailable: () => page(503, 'Unicorn! · GitHub'),
  'graphql rate limit': (world: World) =>
    headed(graphqlError('RATE_LIMITED', 'API rate limit already exceeded for user ID 1.'), {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(world.rate.reset),
      'x-ratelimit-resource': 'graphql',
    }),
  'graphql forbidden': () =>
    graphqlError('FORBIDDEN', 'Resource not accessible by personal access token'),
  'graphql not found': () =>
    graphqlError('NOT_FOUND', "Could not resolve to a Repository with the name 'acme/app'."),
  'graphql sso': () =>
    graphqlError(
      'FORBIDDEN',
      'Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.',
    ),
};
