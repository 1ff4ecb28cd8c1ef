import { Type } from 'typebox';
import { etagOf } from '../../store/base/names.ts';
import { sha256 } from '../../store/base/sha256.ts';
import { jsonText } from '../../store/base/visible.ts';
import { badField, type ServiceError } from '../errors.ts';
import { Answer } from './route.ts';

/** The query parameters of every list. */
export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'The largest number of entries; default: all',
    }),
  ),
  after: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'The id of the last entry of the previous page; 400 if it has left the list, then start again without it',
    }),
  ),
};

interface ListPage {
  limit?: number;
  after?: string;
}

interface Cut<T> {
  items: T[];
  /** The id of the last entry; undefined on the last page. */
  next: string | undefined;
}

/** One page of a list. Throws `bad_request` for an `after` that is not in it, so that paging never restarts silently. */
export const cut = <T extends { id: string }>(
  all: readonly T[],
  { limit = all.length, after }: ListPage,
): Cut<T> => {
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0) throw notInList(after);
  const items = all.slice(start, start + limit);
  return { items, next: start + limit < all.length ? items.at(-1)?.id : undefined };
};

const notInList = (after: string): ServiceError =>
  badField(
    'query/after',
    'is not in the list',
    `There is no ${after} in this list. Start again without after.`,
  );

const MOST = 1000;

/** A page of a list that is read only as far as needed; 1000 entries by default. Throws `bad_request` as `page` does. */
export const pageOf = async <T extends { id: string }>(
  all: AsyncIterable<T>,
  query: ListPage,
  path: string,
): Promise<Answer<T[]>> => {
  const { limit = MOST, after } = query;
  const items: T[] = [];
  let isFound = after === undefined;
  let next: string | undefined;
  for await (const one of all) {
    if (items.length === limit) next = items.at(-1)?.id;
    if (next !== undefined) break;
    if (isFound) items.push(one);
    isFound ||= one.id === after;
  }
  if (!isFound && after !== undefined) throw notInList(after);
  return pageAnswer(items, query, { path, next });
};

/** A page of a list as a JSON array, with `Link: …; rel="next"` if there is more, and an ETag of its content. */
export const page = <T extends { id: string }>(
  all: readonly T[],
  query: ListPage,
  path: string,
): Answer<T[]> => {
  const { items, next } = cut(all, query);
  return pageAnswer(items, query, { path, next });
};

/** The same for a page that was cut elsewhere; `next` is what the next page comes after. */
export const pageAnswer = <T>(
  items: readonly T[],
  query: object,
  { path, next }: { path: string; next: string | undefined },
): Answer<T[]> => {
  const body = Buffer.from(jsonText(items));
  return new Answer<T[]>(body, linkTo(path, query, next), tagOf(body));
};

export const linkTo = (
  path: string,
  query: object,
  next: string | undefined,
): Record<string, string> => {
  if (next === undefined) return {};
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...query, after: next }))
    search.set(key, String(value));
  return { link: `<${path}?${search}>; rel="next"` };
};

const tagOf = (body: Buffer): string => etagOf(sha256(body));

/** A whole list, of which the page that is sent alone becomes JSON. */
export interface ReadyList<I extends { id: string }> {
  all: readonly I[];
  jsonOf: (one: I) => Buffer;
}

const KEPT = 8;
const [OPEN, COMMA, CLOSE] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
];

/**
 * Caches the answers of a list whose elements are ready JSON, for one version of the data: a list of a thousand entries then
 * costs as little as a file.
 */
export const createListCache = <T>() => {
  let made = { version: -1, answers: new Map<string, Answer<T[]>>() };
  return <I extends { id: string }>(
    version: number,
    request: { path: string; query: ListPage },
    list: () => ReadyList<I>,
  ): Answer<T[]> => {
    if (made.version !== version || made.answers.size > KEPT)
      made = { version, answers: new Map() };
    const key = JSON.stringify(request.query);
    const answer = made.answers.get(key) ?? compose<T, I>(request, list());
    made.answers.set(key, answer);
    return answer;
  };
};

const compose = <T, I extends { id: string }>(
  { path, query }: { path: string; query: ListPage },
  { all, jsonOf }: ReadyList<I>,
): Answer<T[]> => {
  const { items, next } = cut(all, query);
  const parts = items.flatMap((one, at) => (at === 0 ? [jsonOf(one)] : [COMMA, jsonOf(one)]));
  const body = Buffer.concat([OPEN, ...parts, CLOSE]);
  const total = { 'x-total-count': String(all.length) };
  return new Answer<T[]>(body, { ...linkTo(path, query, next), ...total }, tagOf(body));
};
