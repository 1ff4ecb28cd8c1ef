import { type Static, type TSchema, Type } from 'typebox';
import type { WebSocket } from 'ws';
import { Id } from '../../store/records/fields.ts';
import type { ErrorCode } from '../errors.ts';
import type { Service } from '../service.ts';
import type { ApiKeyRef } from './local-only.ts';
import type { StreamDoc } from './openapi-events.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An answer with headers, an ETag or a status of its own. Created by the helpers in answer.ts. */
export class Answer<T> {
  readonly body: T | Buffer | string | undefined;
  readonly headers: Record<string, string>;
  /** Unquoted. The HTTP layer compares it with If-None-Match. */
  readonly etag: string | undefined;
  /** Overrides the route's status. */
  readonly status: number | undefined;

  constructor(
    body: T | Buffer | string | undefined,
    headers: Record<string, string> = {},
    etag?: string,
    status?: number,
  ) {
    this.body = body;
    this.headers = headers;
    this.etag = etag;
    this.status = status;
  }
}

export interface StreamEvent {
  id: number;
  /** Empty for a frame that only carries the reader's position. */
  event: string;
  data: unknown;
}

/**
 * The source of an event stream: server-sent events, or the recorded events as a JSON array if the client prefers JSON. It
 * yields batches of events; a batch that several readers share is encoded once.
 */
export interface EventSource {
  /** Yields the events after `after`, then live ones, until the last event or until `signal` aborts. */
  open(after: number, signal: AbortSignal): AsyncIterable<readonly StreamEvent[]>;
  /** Answers JSON unless the client accepts `text/event-stream`. Default: only if the client prefers JSON. */
  json_first?: boolean;
  /** The id of the newest event, for `?after=now` and negative values. */
  newest?(): number;
  /** Whether no event follows `after`, now or later. Such a request gets 204, which stops EventSource from reconnecting. */
  isOver?(after: number): boolean;
  /** Yields the recorded events after `after`. May be called more than once. */
  soFar(after: number): AsyncIterable<readonly StreamEvent[]>;
}

/** A file, or lines of JSON, that are generated while they are sent. */
export interface Download {
  filename: string;
  type: string;
  /** Yields the bytes, until the end or until `signal` aborts. An error before the first byte is answered as usual. */
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** Takes over an open WebSocket. */
export type SocketHandler = (socket: WebSocket) => void;

/** As sent, with names in lower case. */
export type Headers = Record<string, string | string[] | undefined>;

export interface Input<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** If-Match as `meets` takes it: `*`, or the strong entity tags without quotes, with commas; undefined if absent. */
  ifMatch: string | undefined;
  /** The API key of the request. */
  key: ApiKeyRef | undefined;
  headers: Headers;
}

type Of<S, Absent> = S extends TSchema ? Static<S> : Absent;

type Schemas = Record<string, TSchema>;
type Names<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;
type Params<Path, P extends Schemas> = {
  [Name in Names<Path>]: Name extends keyof P ? Static<P[Name]> : string;
};

type Query<Q> = Of<Q, Record<string, never>>;

/** The declaration of a route besides its method and path. */
interface Declaration<
  Path = string,
  P extends Schemas = Schemas,
  Q extends TSchema | undefined = TSchema | undefined,
  B extends TSchema | undefined = TSchema | undefined,
  R extends TSchema | undefined = TSchema | undefined,
> {
  /** The name in the OpenAPI document; default: derived from method and path. */
  operationId?: string;
  /** One sentence, present tense: what the call does. */
  summary: string;
  /** Markdown for the OpenAPI document. */
  description?: string;
  /** Schemas of path parameters that are not UUIDs. */
  params?: P;
  query?: Q;
  body?: B;
  /** `text/markdown`: the body is a Markdown text and `body` a Type.String(). Default: JSON. */
  consumes?: 'application/json' | 'text/markdown';
  /** `body` is the unparsed bytes of the JSON, because the handler checks a signature of them first. */
  raw?: boolean;
  /** The body is a file of any type: `body` is an Upload, which is streamed. */
  upload?: boolean;
  /** Largest body in bytes; default 1 MiB. */
  maxBytes?: number;
  response?: R;
  produces?:
    | 'application/json'
    | 'application/zip'
    | 'application/x-ndjson'
    | 'text/markdown'
    | 'text/x-diff'
    | 'application/octet-stream';
  /** Makes the answer an event stream, with its description. */
  stream?: StreamDoc;
  /** Default: 200, or 204 without a response schema. */
  status?: 200 | 201 | 202 | 204;
  /** Another status of success, which the handler may choose; 202 and 204 have no body. */
  orStatus?: 200 | 201 | 202 | 204;
  /** Whether a call with this body only reads, so that an Idempotency-Key means nothing. */
  reads?: (body: Of<B, undefined>) => boolean;
  /** Any process of this machine may call it, including agents and other users. */
  anyone?: boolean;
  /** Answered while the daemon starts. The handler waits for what it needs. */
  early?: boolean;
  /** Exists only if the daemon runs with --dev. */
  devOnly?: boolean;
  /** The operation supports If-Match. */
  conditional?: boolean;
  /** A secret member of the response. It is not stored with idempotent answers; a replay reads it again. */
  secret?: {
    member: string & keyof Of<R, object>;
    read: (service: Service, made: Of<R, undefined>) => unknown;
  };
  /** The errors of this route, besides those of every route of its kind (openapi-problems.ts). */
  errors?: readonly ErrorCode[];
  /** Makes the endpoint a WebSocket: throws before the upgrade, or returns the handler of the open socket. */
  socket?: (
    input: Input<Params<Path, P>, Query<Q>, undefined>,
    service: Service,
  ) => Promise<SocketHandler>;
  handler: (
    input: Input<Params<Path, P>, Query<Q>, Of<B, undefined>>,
    service: Service,
  ) => Result<R> | Promise<Result<R>> | Nothing<R>;
}

type Result<R> = Of<R, undefined> | Answer<Of<R, undefined>> | EventSource | Download;
type Nothing<R> = R extends TSchema ? never : Promise<void>;

export interface Route extends Omit<Declaration, 'params'> {
  method: Method;
  /** In hapi's form: `/cases/{id}`. */
  path: string;
  params?: TSchema;
}

/** The routes of one section of the interface. */
export interface Section {
  title: string;
  /** One line. */
  description: string;
  routes: readonly Route[];
}

/** Declares a route. The types of the handler follow from the path and the schemas. */
export const route = <
  Path extends `/${string}`,
  P extends Schemas = Record<never, TSchema>,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
  R extends TSchema | undefined = undefined,
>(
  call: `${Method} ${Path}`,
  { params, ...spec }: Declaration<Path, P, Q, B, R>,
): Route => {
  const [method, path] = call.split(' ') as [Method, Path];
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name));
  const schemas = names.map((name) => [name, params?.[name] ?? Id]);
  return {
    ...(spec as unknown as Route),
    method,
    path,
    ...(names.length > 0 && { params: Type.Object(Object.fromEntries(schemas)) }),
  };
};
