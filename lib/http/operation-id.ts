import type { Route } from './route.ts';

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
