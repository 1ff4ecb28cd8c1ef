import { follow, type StreamEvent, type Watch } from './follow.ts';
// Not there? `node .ci/client-types.mjs` makes it, as `npm run build` does first.
import type { Operations } from './operations.ts';
import type { Fetch, Signal } from './platform.ts';
import { Problem } from './problem.ts';
import { bare, type Input, orNoConnection, send, type Target } from './send.ts';

export type * from './operations.ts';
export type { Binary, EventOf, Fetch, Signal, Upload } from './platform.ts';
export { NoConnection, Problem } from './problem.ts';

export interface Options {
  /** Default: http://127.0.0.1:4870. In a page of the daemon, an empty text. */
  url?: string | undefined;
  /** An API key, where the daemon asks for one. */
  key?: string | undefined;
  /** In Node: the daemon's socket, where it is at another place than by default. */
  socket?: string | undefined;
  /** In place of the platform's. */
  fetch?: Fetch | undefined;
}

/** What any call may be given besides its own. */
export interface Extras {
  /** An abort ends a call as it ends fetch, and a stream quietly. */
  signal?: Signal | undefined;
  /** Further headers of the request, such as Range. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** What a stream may be told besides. */
export interface StreamExtras extends Extras {
  /** The connection stands: the first time, and each time that it was made again. */
  onOpen?: (() => void) | undefined;
  /** The connection ended, or could not be made again. After a pause it is tried anew. */
  onBreak?: ((reason: unknown) => void) | undefined;
}

/** The name of a call: `GET /cases/{id}`. */
export type Operation = keyof Operations & string;

/** The name of a call that is a stream. */
export type StreamOperation = {
  [K in Operation]: Operations[K] extends { events: unknown } ? K : never;
}[Operation];

// A call that needs nothing can be given nothing.
type Given<In, More> = Record<never, never> extends In ? [input?: In & More] : [input: In & More];

/** What a call takes, as the parameters after its name: for functions that make calls in their turn. */
export type InputOf<K extends Operation> = Given<Operations[K]['input'], Extras>;

/** The name of a call whose records are whole unless `fields` names some of theirs. */
export type WholeOperation = {
  [K in Operation]: Operations[K] extends { whole: unknown } ? K : never;
}[Operation];

// The same call without `fields`.
type Unpicked<In> = In extends { query?: infer Query }
  ? Omit<In, 'query'> & {
      query?: (Omit<NonNullable<Query>, 'fields'> & { fields?: undefined }) | undefined;
    }
  : never;

type ByStatus<Answers> = {
  [Status in keyof Answers]: {
    status: Status;
    data: Answers[Status];
    /** Without quotes: for `ifMatch` and `ifNoneMatch`. */
    etag: string | undefined;
    headers: { get(name: string): string | null };
  };
}[keyof Answers];

/** What a call answers, by its status; 304 where `ifNoneMatch` still holds. */
export type Answer<K extends Operation> = ByStatus<Operations[K]['answers']>;

/** The body of a call's answer. */
export type Data<K extends Operation> = Exclude<Answer<K>, { status: 304 }>['data'];

/** An event of a stream. */
export type StreamEventOf<K extends StreamOperation> = Operations[K] extends { events: infer E }
  ? E
  : never;

export interface Dossier {
  /** Makes a call and answers its body: JSON, a text, a file, or undefined. Throws Problem and NoConnection. */
  call<K extends WholeOperation>(
    operation: K,
    ...input: Given<Unpicked<Omit<Operations[K]['input'], 'ifNoneMatch'>>, Extras>
  ): Promise<Operations[K]['whole'][200]>;
  call<K extends Operation>(
    operation: K,
    ...input: Given<Omit<Operations[K]['input'], 'ifNoneMatch'>, Extras>
  ): Promise<Data<K>>;
  /** The same with the status, the ETag and the headers of the answer. */
  request<K extends WholeOperation>(
    operation: K,
    ...input: Given<Unpicked<Operations[K]['input']>, Extras>
  ): Promise<ByStatus<Operations[K]['whole']>>;
  request<K extends Operation>(operation: K, ...input: InputOf<K>): Promise<Answer<K>>;
  /**
   * Follows a stream. A connection that breaks is made again where it was, so that no event is missed or comes twice.
   * Ends with the session, at an abort, and when it is left.
   */
  stream<K extends StreamOperation>(
    operation: K,
    ...input: Given<Operations[K]['input'], StreamExtras>
  ): AsyncGenerator<StreamEventOf<K>, void>;
}

/** A daemon, to be called. Nothing is sent before the first call. */
export const connect = ({ url = 'http://127.0.0.1:4870', key, fetch }: Options = {}): Dossier => {
  const target: Target = {
    url: url.replace(/\/$/, ''),
    key,
    fetch: fetch ?? ((to, init) => globalThis.fetch(to, init)),
  };
  const request = (operation: string, input: Input = {}) => answerOf(target, operation, input);
  const client = {
    request,
    call: async (operation: string, input?: Input) => (await request(operation, input)).data,
    stream: (operation: string, input: Input & Watch = {}) => streamOf(target, operation, input),
  };
  // The types are of the schemas; at run time all calls are one.
  return client as unknown as Dossier;
};

const answerOf = async (target: Target, operation: string, input: Input) => {
  // Of the two forms of a stream it is the JSON that is called.
  const response = await send(target, operation, input, { accept: 'application/json, */*' });
  const { status, headers } = response;
  const tag = headers.get('etag');
  const data = await orNoConnection(target.url, input.signal, bodyOf(response));
  return { status, data, etag: tag === null ? undefined : bare(tag), headers };
};

const bodyOf = async (response: Response): Promise<unknown> => {
  const { status, headers } = response;
  const type = headers.get('content-type');
  if (status === 204 || status === 304 || type === null) return undefined;
  // A file is its own, whatever its type is.
  if (headers.has('content-disposition')) return response;
  if (/^application\/(?:\S+\+)?json\b/.test(type)) return response.json();
  return type.startsWith('text/') ? response.text() : response;
};

const streamOf = (
  target: Target,
  operation: string,
  input: Input & Watch,
): AsyncGenerator<StreamEvent, void> =>
  follow(async (after) => {
    const response = await send(target, operation, input, {
      accept: 'text/event-stream',
      ...(after !== undefined && { 'last-event-id': after }),
    });
    const type = response.headers.get('content-type') ?? 'nothing';
    if (response.status === 204 || type.startsWith('text/event-stream')) return response;
    throw new Problem(response.status, { detail: `Not a stream was answered but ${type}.` });
  }, input);
