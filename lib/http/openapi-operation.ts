import { isCreating } from './idempotency.ts';
import type { Route } from './route.ts';
import { isCacheable, querySchema } from './schema.ts';

/**
 * A name for generated clients: `createCase`, `listCases`, `approveCaseSession`. Of a path's last word that is
 * no collection and only POSTed to, as in `/cases/{id}/sessions/{sid}/approve`, it makes the verb; of `mark-ready` the
 * verb and what follows: `markCasePrReady`.
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

/** The path's literal words; what stands before a parameter is one of its kind. */
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

/** What the OpenAPI document says of a call besides its summary: the route's own words, and what is declared of it. */
export const descriptionOf = (route: Route): string =>
  [
    ...(route.description === undefined ? [] : [route.description]),
    ...FACTS.filter(({ holds }) => holds(route)).map(({ says }) => says),
  ].join('\n\n');

const FACTS: readonly { holds: (route: Route) => boolean; says: string }[] = [
  {
    holds: (route) => 'after' in (querySchema(route).properties ?? {}) && isCacheable(route),
    says: 'Where there is more than `limit`, `Link` leads to the next page.',
  },
  {
    holds: isCacheable,
    says: 'With `If-None-Match` it is answered 304 while what you have is current.',
  },
  {
    holds: ({ method, conditional }) => conditional === true && method !== 'GET',
    says: 'With `If-Match` nothing is done to another version than the one that was read (412).',
  },
  {
    holds: isCreating,
    says: 'With an `Idempotency-Key` it is done once, however often it is sent within a day.',
  },
  {
    holds: ({ anyone }) => anyone === true,
    says: 'Any process of this machine may call it; all else is the operator alone.',
  },
];
