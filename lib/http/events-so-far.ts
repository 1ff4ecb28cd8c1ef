import { Readable } from 'node:stream';
import type { Request, ResponseToolkit } from '@hapi/hapi';
import { jsonText } from '../../store/base/visible.ts';
import { linkTo } from './page.ts';
import type { EventSource, StreamEvent } from './route.ts';

/**
 * Answers with the events so far, as one JSON array that is made while it is sent. With `?limit=` it has so many at
 * most, and `Link: …; rel="next"` where there are more.
 */
export const sendSoFar = async (
  source: EventSource,
  after: number,
  { path, query }: Request,
  h: ResponseToolkit,
) => {
  const limit = query.limit === undefined ? undefined : Number(query.limit);
  const { last, more } = await pageEnd(source, after, limit);
  const body = Readable.from(jsonArray(source.soFar(after), last), { objectMode: false });
  const answer = h.response(body).type('application/json');
  const { link } = linkTo(path, { ...query, limit }, more ? String(last) : undefined);
  return link === undefined ? answer : answer.header('link', link);
};

// The number of the last event of the page. Counted before anything is sent: a header comes first, as does an error.
const pageEnd = async (
  source: EventSource,
  after: number,
  limit = Number.POSITIVE_INFINITY,
): Promise<{ last: number; more: boolean }> => {
  let [count, last] = [0, Number.POSITIVE_INFINITY];
  for await (const events of source.soFar(after)) {
    if (limit === Number.POSITIVE_INFINITY) break;
    if (count < limit && count + events.length >= limit) last = events[limit - count - 1]?.id ?? 0;
    count += events.length;
    if (count > limit) return { last, more: true };
  }
  return { last: Number.POSITIVE_INFINITY, more: false };
};

const jsonArray = async function* (
  source: AsyncIterable<readonly StreamEvent[]>,
  last: number,
): AsyncGenerator<string> {
  let before = '[';
  for await (const events of source) {
    const page = events.filter(({ id }) => id <= last);
    if (page.length > 0) yield before + page.map((event) => jsonText(event)).join(',');
    if (page.length > 0) before = ',';
    if (page.length < events.length) break;
  }
  yield before === '[' ? '[]' : ']';
};
