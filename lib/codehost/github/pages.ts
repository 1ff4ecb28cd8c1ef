import type { PaginatingEndpoints } from '@octokit/plugin-paginate-rest';
import type { ServiceError } from '../../errors.ts';
import { list, record } from '../../text/unknown-json.ts';
import { apiPath, fullNameOf, hostClient, type RepositoryContext, variablesOf } from './client.ts';
import { unusable } from './usable.ts';

/** GitHub's maximum page size. */
export const PER_PAGE = { per_page: 100 } as const;

/** The most pages of one list: a host that names a next one forever would otherwise be asked forever. */
const MOST_PAGES = 300;

/** Where a page of a list begins, as query parameters. */
export type Position = Record<string, string>;

type Route = keyof PaginatingEndpoints;
type Items<R extends Route> = PaginatingEndpoints[R]['response']['data'];

/**
 * The pages of a repository's list, by REST and on demand. `of` holds path and query parameters. Throws 502
 * `codehost_upstream` where a page leads to one that was read, and after 300 pages.
 */
export const pagesOf = async function* <R extends Route>(
  place: RepositoryContext,
  route: R,
  of: object,
  from: Position = {},
): AsyncGenerator<{ items: Items<R>; next: Position | null }> {
  const { api } = await hostClient(place);
  const seen = new Set<string>();
  for (let at: Position | null = from; at !== null; ) {
    seen.add(JSON.stringify(at));
    const asked = { ...apiPath(place), ...of, ...at } as PaginatingEndpoints[R]['parameters'];
    const { data, headers } = await api.request(route as string, asked);
    const next = nextIn(headers.link);
    if (next !== null && seen.has(JSON.stringify(next))) throw endless(place, REPEATED);
    yield { items: itemsIn(place, data) as Items<R>, next };
    if (seen.size === MOST_PAGES) throw endless(place, TOO_MANY);
    at = next;
  }
};

const REPEATED = 'a page of the list links to one that was already read';
const TOO_MANY = `the list has more than ${MOST_PAGES} pages`;

const endless = ({ name }: RepositoryContext, why: string): ServiceError =>
  unusable(name.host, fullNameOf(name), why);

// Only the position is taken from the link, so that it cannot lead to another server or list.
const nextIn = (link: string | undefined): Position | null => {
  const next = /<([^<>]+)>;\s*rel="next"/.exec(link ?? '')?.[1];
  return next === undefined ? null : positionIn(new URL(next).searchParams);
};

// GitHub paginates some lists by number and others by cursor.
const PLACES = ['page', 'after'];

export const positionIn = (query: URLSearchParams): Position =>
  Object.fromEntries([...query].filter(([name]) => PLACES.includes(name)));

// Some lists are within an object, beside their count: another object is not an empty list.
const itemsIn = ({ name }: RepositoryContext, data: unknown): unknown[] => {
  const { total_count, ...lists } = record(data);
  const beside = total_count === undefined ? undefined : Object.values(lists).find(Array.isArray);
  const found = Array.isArray(data) ? data : beside;
  if (found === undefined) throw unusable(name.host, fullNameOf(name), 'it is not a list');
  return list(found);
};

/** All items of a repository's list, by REST. `of` holds path and query parameters. */
export const listOf = async <R extends Route>(
  place: RepositoryContext,
  route: R,
  of: Record<string, string | number> = {},
): Promise<Items<R>> => {
  const all: unknown[] = [];
  for await (const { items } of pagesOf(place, route, { ...PER_PAGE, ...of }))
    all.push(...(items as unknown[]));
  return all as Items<R>;
};

/** The pages of a GraphQL document's list, on demand. Throws 502 `codehost_upstream` after 300 pages. */
export const queriedPages = async function* <T>(
  place: RepositoryContext,
  document: string,
  variables: Record<string, string | number>,
): AsyncGenerator<T> {
  const { pages } = await hostClient(place);
  let read = 0;
  for await (const page of pages<T>(document, variables)) {
    if (read === MOST_PAGES) throw endless(place, TOO_MANY);
    read += 1;
    yield page;
  }
};

/** The items that `pick` selects from all pages of a list of an issue or pull request, by GraphQL. */
export const collectPages = async <P, T>(
  place: RepositoryContext,
  { document, number }: { document: string; number: number },
  pick: (repository: P) => readonly T[],
): Promise<T[]> => {
  const all: T[] = [];
  const variables = { ...variablesOf(place), number };
  for await (const { repository } of queriedPages<{ repository: P }>(place, document, variables))
    all.push(...pick(repository));
  return all;
};
