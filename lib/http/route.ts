import { type Static, type TSchema, Type } from 'typebox';
import type { WebSocket } from 'ws';
import { Id } from '../../store/records/id.ts';
import type { ErrorCode } from '../errors.ts';
import type { Service } from '../service.ts';
import type { ShownKey } from './local-only.ts';
import type { StreamDoc } from './openapi-events.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An answer that is more than a JSON value with the route's status. Made by the helpers in answer.ts. */
export class Answer<T> {
  readonly body: T | Buffer | string | undefined;
  readonly headers: Record<string, string>;
  /** Without quotes; the HTTP layer adds them, and answers 304 or 412 by it. */
  readonly etag: string | undefined;
  /** Instead of the route's. */
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
  /** Empty: this is no event, it is how far the reader got. */
  event: string;
  data: unknown;
}

/**
 * A live answer: server-sent events, or the same events so far as a JSON array where the client accepts JSON. Events come
 * several at a time. Readers that are given the same array share what it takes to send it.
 */
export interface EventSource {
  /** Replays what is after `after`, then goes on live, and ends after the last event or once `signal` aborts. */
  open(after: number, signal: AbortSignal): AsyncIterable<readonly StreamEvent[]>;
  /** JSON is answered to whoever does not name `text/event-stream`. Else to whoever prefers it. */
  json_first?: boolean;
  /** The number of the newest event: where `?after=now` begins, and what a negative one counts from. */
  newest?(): number;
  /** Nothing is after `after`, and nothing will be: whoever comes back by itself is told so with 204. */
  isOver?(after: number): boolean;
  /** What is after `after`, to the end as it is when it gets there. May be asked for more than once. */
  soFar(after: number): AsyncIterable<readonly StreamEvent[]>;
}

/** A file that is made while it is sent. */
export interface Download {
  filename: string;
  type: string;
  /** Its bytes, to the end or until `signal` aborts. What it throws before the first is answered as any other error. */
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** Takes a WebSocket over once it is open. */
export type Speaker = (socket: WebSocket) => void;

export interface Input<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** The If-Match header without quotes and weak mark; undefined when absent or `*`. */
  ifMatch: string | undefined;
  /** The bearer token that was presented; it has been found good for this path. */
  token: string | undefined;
  /** The API key that the call showed. */
  key: ShownKey | undefined;
  /** As they were sent, with names in lower case. */
  headers: Record<string, string | string[] | undefined>;
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

/** What is said of a route beside its method and path. */
interface Declaration<
  Path = string,
  P extends Schemas = Schemas,
  Q extends TSchema | undefined = TSchema | undefined,
  B extends TSchema | undefined = TSchema | undefined,
  R extends TSchema | undefined = TSchema | undefined,
> {
  /** In the OpenAPI document; default: made of method and path. */
  operationId?: string;
  /** One sentence, present tense: what the call does. */
  summary: string;
  /** More for the OpenAPI document, Markdown. */
  description?: string;
  /** What stands in the path, where it is not the id of something. */
  params?: P;
  query?: Q;
  body?: B;
  /** `text/markdown`: the body is a Markdown text and `body` a Type.String(). Default: JSON. */
  consumes?: 'application/json' | 'text/markdown';
  /** `body` is the JSON's bytes, unread: what signs them is checked first, by the handler, and covers no other bytes. */
  raw?: boolean;
  /** The body is a file, of any type: `body` is an Upload, read as it comes. */
  upload?: boolean;
  /** Largest body in bytes; default 1 MiB. */
  maxBytes?: number;
  response?: R;
  produces?:
    | 'application/json'
    | 'application/zip'
    | 'text/markdown'
    | 'text/x-diff'
    | 'application/octet-stream'
    | 'text/event-stream';
  /** Of an event stream: what it sends. */
  stream?: StreamDoc;
  /** Default: 200, or 204 without a response schema. */
  status?: 200 | 201 | 202 | 204;
  /** A further status of success, which the handler chooses; 202 and 204 are without a body. */
  orStatus?: 200 | 201 | 202 | 204;
  /** Not the operator's alone: any process of this machine may make the call, agents and other users too. */
  anyone?: boolean;
  /** There only when the daemon runs with --dev. */
  devOnly?: boolean;
  /** The operation honours If-Match. */
  conditional?: boolean;
  /** A member of the response that is a secret: no kept answer has it, and one that is given again has it as it is read then. */
  secret?: {
    member: string & keyof Of<R, object>;
    read: (service: Service, made: Of<R, undefined>) => unknown;
  };
  /** Beside those of all its kind: of an id in the path, say, that it is nobody's (openapi-problems.ts). */
  errors?: readonly ErrorCode[];
  /** The endpoint is a WebSocket: what it says before the upgrade, and who speaks there after it. */
  socket?: (
    input: Input<Params<Path, P>, Query<Q>, undefined>,
    service: Service,
  ) => Promise<Speaker>;
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

/** A route, of its method and its path. The handler's types are tied to the path and the schemas beside it. */
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
    ...{ method, path },
    ...(names.length > 0 && { params: Type.Object(Object.fromEntries(schemas)) }),
  };
};
