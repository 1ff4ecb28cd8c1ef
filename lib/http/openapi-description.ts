import { isCreating } from './once.ts';
import type { Route } from './route.ts';
import { isCacheable, querySchema } from './schema.ts';

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
