import type { Lifecycle, Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { etagOf } from '../../store/base/names.ts';
import { sha256 } from '../../store/base/sha256.ts';
import { trackWrites } from '../../store/base/write-stage.ts';
import { whyAway } from '../../store/fs/directories.ts';
import type { Layout } from '../../store/layout.ts';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { bodyBytes } from './answer.ts';
import { requireOperator } from './authorize.ts';
import { createUpload, isUpload, readBytes, UNPARSED } from './body.ts';
import { sendDownload } from './download.ts';
import { isCreating, KEY_HEADER, withIdempotency } from './idempotency.ts';
import { inputReader } from './input.ts';
import type { ApiKeyRef } from './local-only.ts';
import { type ErrorLog, failedWrite, problemAnswer } from './problem.ts';
import type { FindReadPath } from './read-path.ts';
import { Answer, type Download, type EventSource, type Headers, type Route } from './route.ts';
import { isCacheable, isDownload, isFile, isStream } from './schema.ts';
import { type Streams, sendEvents } from './sse.ts';

declare module '@hapi/hapi' {
  interface RequestApplicationState {
    /** The valid API key of the request. */
    key?: ApiKeyRef | undefined;
  }
}

const MIB = 1024 * 1024;
const JSON_TYPE = 'application/json; charset=utf-8';

/** Serves a route: authorizes the caller, validates the input, calls the handler and sends its answer. */
export const hapiRoute = (
  route: Route,
  service: Service,
  streams: Streams,
  readPathOf: FindReadPath,
): ServerRoute => {
  const read = inputReader(route);
  const make = async ({ params, query, raw, app }: Request, body: unknown) => {
    const { headers, url = '' } = raw.req;
    const input = read({ params, query, headers, payload: body, key: app.key });
    if (!isCreating(route) || route.reads?.(input.body as never) === true)
      return route.handler(input as never, service);
    const handle = async () => route.handler(input as never, service);
    return withIdempotency(route, { headers, url, body }, service, handle);
  };
  const perform = route.method === 'GET' ? make : withWriteStage(route, readPathOf, make);
  return {
    method: route.method,
    path: route.path,
    // hapi's own ranges apply to every answer, and its errors are not problem documents.
    options: { response: { ranges: false }, ...(route.method !== 'GET' && { payload: UNPARSED }) },
    handler: async (request, h) => {
      await admit(route, request, service);
      const body = await bodyOf(route, request);
      const result = await perform(request, body).catch((error) =>
        drainUpload(body, orAway(service.store.layout, error)),
      );
      if (isStream(route)) return sendEvents(result as EventSource, request, h, streams);
      if (isDownload(route)) return sendDownload(result as Download, request, h, streams);
      return sendAnswer(route, result as Result, request, h);
    },
  };
};

// Refuses callers that the route does not serve. All but early routes wait until the daemon has started.
const admit = async (route: Route, { app, raw }: Request, service: Service): Promise<void> => {
  if (route.devOnly === true && !service.config.dev) throw devOnly(route);
  if (route.early !== true) await service.started;
  if (route.anyone !== true) await requireOperator(raw.req.socket, app.key, service);
};

type Make = (request: Request, body: unknown) => Promise<unknown>;

const withWriteStage =
  (route: Route, readPathOf: FindReadPath, make: Make): Make =>
  (request, body) =>
    trackWrites((stage) =>
      make(request, body).catch((error: unknown) => {
        const { url = '', headers } = request.raw.req;
        const keyed = isCreating(route) && KEY_HEADER in headers;
        throw failedWrite(error, { stage: stage(), read: readPathOf(route, url), keyed });
      }),
    );

// Reads the rest of an upload first: an earlier answer would be lost with the connection.
const drainUpload = async (body: unknown, error: unknown): Promise<never> => {
  if (isUpload(body)) await body.sha256().catch(() => undefined);
  throw error;
};

// After a 404, a client may forget a resource that is there again once the disk is mounted.
const orAway = ({ root }: Layout, error: unknown): unknown => {
  const isMissing = error instanceof ServiceError && error.code === 'not_found';
  const away = isMissing ? whyAway(root) : undefined;
  return away === undefined ? error : new ServiceError('unavailable', `${away}.`, { cause: error });
};

const devOnly = ({ path }: Route): ServiceError =>
  new ServiceError(
    'route_not_found',
    `${path} exists only in dev builds. Start the daemon with --dev.`,
  );

/** Turns every error into a problem document, as the last step before the answer. */
export const answerProblems =
  (log: ErrorLog): Lifecycle.Method =>
  ({ response }, h) => {
    if (!(response instanceof Error)) return h.continue;
    const { status, headers, body } = problemAnswer(response, log);
    const answer = h.response(body).code(status).type('application/problem+json');
    return withHeaders(answer, headers);
  };

const bodyOf = async ({ method, maxBytes = MIB, upload }: Route, { raw }: Request) => {
  if (method === 'GET') return undefined;
  const declared = Number(raw.req.headers['content-length'] ?? 0);
  const type = raw.req.headers['content-type'] ?? 'application/octet-stream';
  if (upload === true)
    return createUpload(raw.req, { declared, type }, { maxBytes, patienceMs: 120_000 });
  return readBytes(raw.req, declared, { maxBytes, patienceMs: 10_000 });
};

type Result = Answer<unknown> | object | string | number | boolean | null | undefined;

const sendAnswer = (route: Route, result: Result, request: Request, h: ResponseToolkit) => {
  const answered = withTag(route, result instanceof Answer ? result : new Answer<unknown>(result));
  const { body, headers, etag } = answered;
  const tag = etag === undefined ? undefined : `"${etag}"`;
  if (tag !== undefined && isCurrent(request, tag)) {
    return h.response().code(304).header('etag', tag);
  }
  const status = answered.status ?? route.status ?? (body === undefined ? 204 : 200);
  const bytes = bodyBytes(answered);
  if (isFile(route) && bytes !== undefined && tag !== undefined)
    return sendFile({ bytes, tag, headers }, request, h);
  const answer = h.response(bytes).code(status);
  if (body !== undefined) answer.type(JSON_TYPE);
  if (tag !== undefined) answer.header('etag', tag);
  return withHeaders(answer, headers);
};

// What has no version of its own is compared as a whole.
const withTag = (route: Route, answered: Answer<unknown>): Answer<unknown> => {
  const { headers, etag, status } = answered;
  if (etag !== undefined || status !== undefined || !isCacheable(route)) return answered;
  const bytes = bodyBytes(answered);
  return bytes === undefined ? answered : new Answer(bytes, headers, etagOf(sha256(bytes)));
};

interface SentFile {
  bytes: Buffer;
  tag: string;
  headers: Record<string, string>;
}

const sendFile = (
  { bytes, tag, headers }: SentFile,
  { method, raw }: Request,
  h: ResponseToolkit,
) => {
  const part = method === 'get' ? requestedRange(raw.req.headers, bytes.length, tag) : undefined;
  const all = { ...headers, etag: tag, 'accept-ranges': 'bytes' };
  if (part === undefined) return withHeaders(h.response(bytes).code(200), all);
  const { from, to } = part;
  const range = { 'content-range': `bytes ${from}-${to}/${bytes.length}` };
  return withHeaders(h.response(bytes.subarray(from, to + 1)).code(206), { ...all, ...range });
};

type HapiResponse = ReturnType<ResponseToolkit['response']>;

const withHeaders = (answer: HapiResponse, headers: Record<string, string>): HapiResponse => {
  for (const name of Object.keys(headers)) answer.header(name, headers[name] ?? '');
  return answer;
};

const isCurrent = ({ method, raw }: Request, tag: string): boolean => {
  const known = raw.req.headers['if-none-match'];
  if (known === undefined || (method !== 'get' && method !== 'head')) return false;
  return known.trim() === '*' || known.split(',').some((one) => strong(one) === tag);
};

const strong = (tag: string): string => tag.trim().replace(/^W\//, '');

/** The first and the last byte, counted from 0. */
interface Part {
  from: number;
  to: number;
}

/**
 * The range that a client requests; undefined for the whole file: without `Range`, with several or invalid ranges (RFC 9110,
 * 14.2), and if `If-Range` names another version. Throws `range_not_satisfiable`.
 */
const requestedRange = (headers: Headers, size: number, tag: string): Part | undefined => {
  const { range, 'if-range': version } = headers;
  if (typeof range !== 'string' || (version ?? tag) !== tag) return undefined;
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range.replaceAll(' ', '')) ?? [];
  const part = first === '' ? suffixRange(last, size) : byteRange(Number(first), last, size);
  if (part !== undefined && part.from > part.to) throw notSatisfiable(size);
  return part;
};

const suffixRange = (count: string, size: number): Part | undefined =>
  count === '' ? undefined : { from: Math.max(0, size - Number(count)), to: size - 1 };

const byteRange = (from: number, last: string, size: number): Part | undefined => {
  if (last === '') return { from, to: size - 1 };
  return Number(last) < from ? undefined : { from, to: Math.min(Number(last), size - 1) };
};

const notSatisfiable = (size: number): ServiceError =>
  new ServiceError(
    'range_not_satisfiable',
    `The file has ${size} bytes. Request a range within it, or leave Range out.`,
    { headers: { 'content-range': `bytes */${size}` } },
  );
