import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { Request, ResponseToolkit } from '@hapi/hapi';
import { jsonText } from '../../store/base/visible.ts';
import type { WithStore } from '../../store/store.ts';
import { ServiceError } from '../errors.ts';
import type { WithKeyring } from '../guard/api-keys/keys.ts';
import { watchKey } from './key-watch.ts';
import { linkTo } from './pagination.ts';
import type { ErrorLog } from './problem.ts';
import type { EventSource, StreamEvent } from './route.ts';

/** The open streams of a server. Aborting a member of `open` ends that stream. */
export interface Streams {
  open: Set<AbortController>;
  heartbeatMs: number;
  service: WithKeyring & WithStore;
  log: ErrorLog;
}

/** Tracks a stream until the client, the source or the server ends it, or its API key is revoked, then calls `end`. */
export const openLifetime = (
  { app, raw: { res } }: Request,
  { open, service }: Streams,
  end: () => void,
): AbortController => {
  const life = new AbortController();
  const unwatch = watchKey(app.key, service, () => life.abort());
  life.signal.addEventListener('abort', () => {
    open.delete(life);
    unwatch();
    end();
  });
  open.add(life);
  res.once('close', () => life.abort());
  if (res.destroyed) life.abort();
  return life;
};

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

/**
 * Answers with server-sent events, or with the recorded events as JSON if the client prefers that. Starts after
 * `Last-Event-ID`, else after `?after=`. Reads the source at the client's speed, so a slow client buffers only a few events
 * and misses none.
 */
export const sendEvents = async (
  source: EventSource,
  request: Request,
  h: ResponseToolkit,
  streams: Streams,
) => {
  const after = position(request, source);
  if (wantsJson(request.raw.req.headers.accept, source))
    return sendRecordedEvents(source, after, request, h);
  if (source.isOver?.(after) === true) return h.response().code(204);
  const { res } = request.raw;
  res.writeHead(200, HEADERS);
  if (request.method === 'head') res.end();
  else void pump(source, after, request, streams);
  return h.abandon;
};

const position = ({ headers, query }: Request, { newest }: EventSource): number => {
  const sent: unknown = headers['last-event-id'] || query.after || '0';
  if (sent === 'now' && newest !== undefined) return newest();
  if (/^\d{1,15}$/.test(String(sent))) return Number(sent);
  const fromEnd = Number(query.after);
  if (sent === query.after && fromEnd < 0 && newest !== undefined)
    return Math.max(newest() + fromEnd, 0);
  const place = headers['last-event-id'] ? 'Last-Event-ID' : 'query/after';
  const message = `${place} must be the id of an event of this stream: a whole number of at most 15 digits.`;
  throw new ServiceError('bad_request', message);
};

const wantsJson = (accept = '', { json_first = false }: EventSource): boolean => {
  const stream = quality(accept, 'text/event-stream');
  return quality(accept, 'application/json') > stream || (json_first && stream === 0);
};

const quality = (accept: string, type: string): number => {
  const range = accept.split(',').find((one) => one.trim().toLowerCase().startsWith(type));
  return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/.exec(range)?.[1] ?? 1);
};

const pump = async (
  source: EventSource,
  after: number,
  request: Request,
  streams: Streams,
): Promise<void> => {
  const { res } = request.raw;
  const { heartbeatMs, log } = streams;
  const heart = setInterval(() => res.writableNeedDrain || res.write(':\n\n'), heartbeatMs);
  const life = openLifetime(request, streams, () => {
    clearInterval(heart);
    res.end();
  });
  res.flushHeaders();
  try {
    for await (const events of source.open(after, life.signal)) {
      if (life.signal.aborted) break;
      if (!res.write(encode(events))) await once(res, 'drain', { signal: life.signal });
    }
  } catch (err) {
    if (!life.signal.aborted) log.error({ err }, 'event stream failed');
  } finally {
    life.abort();
  }
};

const encoded = new WeakMap<readonly StreamEvent[], Buffer>();

// Encodes each batch of events once for all readers.
const encode = (events: readonly StreamEvent[]): Buffer => {
  const ready = encoded.get(events);
  if (ready !== undefined) return ready;
  const bytes = Buffer.from(events.map(frameOf).join(''));
  encoded.set(events, bytes);
  return bytes;
};

const frames = new WeakMap<StreamEvent, string>();

// Encodes each event once, even if readers get it in different batches.
const frameOf = (event: StreamEvent): string => {
  const ready = frames.get(event) ?? frame(event);
  frames.set(event, ready);
  return ready;
};

const frame = ({ id, event, data }: StreamEvent): string => {
  if (event === '') return `id: ${id}\n\n`;
  const text = `data: ${jsonText(data ?? null)}\n\n`;
  // The first frame has no id: a client that is disconnected between the two receives both again.
  const other = event === 'error' ? `event: session_error\n${text}` : '';
  return `${other}id: ${id}\nevent: ${event}\n${text}`;
};

/** Streams the recorded events as one JSON array, at most `?limit=`, with `Link: …; rel="next"` if there are more. */
const sendRecordedEvents = async (
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

// The id of the last event of the page. It is needed before the first byte, for the Link header and for errors.
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
