import type { Fetch, Signal } from './platform.ts';
import { NoConnection, Problem } from './problem.ts';

/** The address of the daemon, and how to call it. */
export interface Target {
  url: string;
  key: string | undefined;
  fetch: Fetch;
}

/** The input of a call; path parameters are further members. */
export interface Input {
  query?: Record<string, unknown>;
  body?: unknown;
  ifMatch?: string;
  ifNoneMatch?: string;
  idempotencyKey?: string;
  headers?: Record<string, string>;
  signal?: Signal;
}

/** Makes a call. Throws Problem if it is refused, NoConnection without an answer, and the reason of an abort. */
export const send = async (
  { url, key, fetch }: Target,
  operation: string,
  input: Input,
  own: Record<string, string>,
): Promise<Response> => {
  const [method = '', path = ''] = operation.split(' ');
  const { body, signal } = input;
  const to = url + path.replace(/\{(\w+)\}/g, segmentOf(input)) + searchOf(input.query);
  const bearer = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const [type, content] = payloadOf(body);
  const init = {
    method,
    headers: { ...bearer, ...type, ...conditionsOf(input), ...own, ...input.headers },
    ...(content !== undefined && { body: content, duplex: 'half' }),
    ...(signal !== undefined && { signal }),
  } as RequestInit;
  const response = await orNoConnection(url, signal, fetch(to, init));
  if (response.ok || response.status === 304) return response;
  throw problemOf(response.status, await orNoConnection(url, signal, response.text()));
};

/** Awaits `work`. Throws NoConnection, with advice, if it fails; an abort is thrown unchanged. */
export const orNoConnection = async <T>(
  url: string,
  signal: Signal | undefined,
  work: Promise<T>,
): Promise<T> => {
  try {
    return await work;
  } catch (cause) {
    if (signal?.aborted) throw cause;
    const where = url === '' ? 'the daemon' : `a daemon at ${url}`;
    throw new NoConnection(`No connection to ${where}. Is it running? \`dossier\` starts it.`, {
      cause,
    });
  }
};

const segmentOf =
  (input: object) =>
  (_: string, name: string): string => {
    const value = String((input as Record<string, unknown>)[name] ?? '');
    // The segments . and .. would change the path.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${name} cannot be ${JSON.stringify(value)}`);
    return encodeURIComponent(value);
  };

const searchOf = (query: Input['query'] = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  // String joins an array with commas, as the API expects.
  const search = new URLSearchParams(
    Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
  );
  return given.length === 0 ? '' : `?${search}`;
};

const conditionsOf = ({ ifMatch, ifNoneMatch, idempotencyKey }: Input): Record<string, string> => ({
  ...(ifMatch !== undefined && { 'if-match': quoted(ifMatch) }),
  ...(ifNoneMatch !== undefined && { 'if-none-match': quoted(ifNoneMatch) }),
  ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
});

const quoted = (tag: string): string => (tag === '*' ? tag : `"${unquoted(tag)}"`);

/** An entity tag without its quotes, as events name it. */
export const unquoted = (tag: string): string => tag.replace(/^(?:W\/)?"|"$/g, '');

type Content = NonNullable<RequestInit['body']>;
type Payload = [type: Record<string, string>, content: Content | undefined];

const payloadOf = (body: unknown): Payload => {
  if (body === undefined) return [{}, undefined];
  // fetch sends the type of a Blob itself.
  if (body instanceof Blob && body.type !== '') return [{}, body];
  if (isBytes(body)) return [{ 'content-type': 'application/octet-stream' }, body];
  if (typeof body === 'string') return [{ 'content-type': 'text/markdown' }, body];
  return [{ 'content-type': 'application/json' }, JSON.stringify(body)];
};

const isBytes = (body: unknown): body is Content =>
  [Blob, ReadableStream, ArrayBuffer].some((kind) => body instanceof kind) ||
  ArrayBuffer.isView(body);

const problemOf = (status: number, text: string): Problem => {
  try {
    const members = JSON.parse(text);
    if (typeof members.code === 'string') return new Problem(status, members);
  } catch {
    // Not from the daemon: a proxy or another server answered.
  }
  const detail = text.trim().slice(0, 500);
  return new Problem(status, detail === '' ? {} : { detail });
};
