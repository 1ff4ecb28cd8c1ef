import { isCreating } from './idempotency.ts';
import type { Route } from './route.ts';
import { isCacheable, querySchema } from './schema.ts';

/**
 * The operation's name in generated clients: `createCase`, `listCases`. If the last word of the path is an action, as in
 * `POST /cases/{id}/sessions/{sid}/approve`, it is the verb: `approveCaseSession`; `mark-ready` gives `markCasePrReady`.
 */
export const operationId = (route: Route): string => {
  if (route.operationId !== undefined) return route.operationId;
  const words = nouns(route.path);
  const last = words.pop() ?? '';
  if (route.method === 'POST' && route.status !== 201) {
    const [does = '', ...how] = last.split('-');
    return camel([does, ...words, ...how]);
  }
  const verb = verbOf(route);
  return camel([verb, ...words, verb === 'create' ? singular(last) : last]);
};

const verbOf = ({ method, response }: Route): string => {
  if (method !== 'GET') return VERBS[method];
  return (response as { type?: string } | undefined)?.type === 'array' ? 'list' : 'get';
};

const VERBS = { POST: 'create', PUT: 'put', PATCH: 'update', DELETE: 'delete' } as const;

/** The path's literal words, singular before a parameter. */
const nouns = (path: string): string[] => {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== 'api');
  return segments.flatMap((segment, index) => {
    if (segment.startsWith('{')) return [];
    return [segments[index + 1]?.startsWith('{') ? singular(segment) : segment];
  });
};

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');

const camel = (words: string[]): string =>
  words
    .flatMap((word) => word.split(/[^A-Za-z0-9]+/))
    .filter((word) => word !== '')
    .map((word, index) =>
      index === 0 ? word.toLowerCase() : word.charAt(0).toUpperCase() + word.slice(1),
    )
    .join('');

/** The description of an operation: the route's own, and sentences that follow from its declaration. */
export const descriptionOf = (route: Route): string =>
  [
    ...(route.description === undefined ? [] : [route.description]),
    ...FACTS.filter(({ applies }) => applies(route)).map(({ text }) => text),
  ].join('\n\n');

const FACTS: readonly { applies: (route: Route) => boolean; text: string }[] = [
  {
    applies: (route) => 'after' in (querySchema(route).properties ?? {}) && isCacheable(route),
    text: 'If there are more than `limit`, the `Link` header contains the next page.',
  },
  {
    applies: isCacheable,
    text: 'With `If-None-Match` the answer is 304 if your version is current.',
  },
  {
    applies: ({ method, conditional }) => conditional === true && method !== 'GET',
    text: 'With `If-Match` the call fails with 412 if the version is not the one that you read.',
  },
  {
    applies: isCreating,
    text: 'With an `Idempotency-Key` the call takes effect once, however often it is sent within 24 hours.',
  },
  {
    applies: ({ anyone }) => anyone === true,
    text: 'Any process of this machine may call it. All other calls are for the operator only.',
  },
];
