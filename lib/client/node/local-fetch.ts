import { Agent, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Fetch } from '../platform.ts';

type Init = NonNullable<Parameters<typeof globalThis.fetch>[1]>;

/**
 * fetch for a daemon on this machine. It calls by the daemon's socket, which `findSocket` finds for an address: the daemon
 * then need not look up the caller. Where there is none, or the daemon requires more of callers by a socket, it
 * calls by TCP. It follows no redirect.
 */
export const createLocalFetch = (findSocket: (url: string) => string | undefined): Fetch => {
  const agent = new Agent({ keepAlive: true });
  return async (url, init = {}) => {
    if (!url.startsWith('http://')) return globalThis.fetch(url, init);
    const path = canRepeat(init.body) ? findSocket(url) : undefined;
    const answer = path === undefined ? undefined : await bySocket(path, agent, url, init);
    return answer ?? responseOf(await ask(url, init, { agent: undefined }), init);
  };
};

// A stream can be read once, and a call by the socket may have to be made again by TCP.
const canRepeat = (body: Init['body']): boolean => !(body instanceof ReadableStream);

const FORBIDDEN = 403;

/** Undefined if no daemon listens on the socket, or if it refuses callers by a socket now: then the call was not made. */
const bySocket = async (
  socketPath: string,
  agent: Agent,
  url: string,
  init: Init,
): Promise<Response | undefined> => {
  const message = await ask(url, init, { socketPath, agent }).catch((error: unknown) => {
    if (NOT_LISTENING.includes(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw error;
  });
  if (message?.statusCode !== FORBIDDEN) return message && responseOf(message, init);
  const problem = await text(message);
  return /"code":\s*"not_operator"/.test(problem)
    ? undefined
    : new Response(problem, { status: FORBIDDEN, headers: headersOf(message) });
};

// A daemon that was killed leaves its socket behind.
const NOT_LISTENING = ['ENOENT', 'ECONNREFUSED', 'EACCES', 'ENOTSOCK'];

type Way = { agent: Agent | undefined; socketPath?: string };

const ask = (url: string, { method, headers, body, signal }: Init, way: Way) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const fail = (error: unknown): void => reject(signal?.aborted ? signal.reason : error);
    if (signal?.aborted) return fail(undefined);
    const content = contentOf(body);
    const asked = request(
      url,
      {
        method: method ?? 'GET',
        headers: { ...content.headers, ...(headers as Record<string, string>) },
        ...way,
        ...(signal && { signal }),
      },
      resolve,
    );
    asked.on('error', fail);
    if (content.stream === undefined) asked.end(content.bytes);
    else pipeline(content.stream, asked).catch(fail);
  });

interface Content {
  /** Node sends their length. */
  bytes?: string | Uint8Array;
  stream?: Readable;
  headers?: Record<string, string | number>;
}

const contentOf = (body: Init['body']): Content => {
  if (body === undefined || body === null) return {};
  if (typeof body === 'string') return { bytes: body };
  if (body instanceof ArrayBuffer) return { bytes: new Uint8Array(body) };
  if (ArrayBuffer.isView(body))
    return { bytes: new Uint8Array(body.buffer, body.byteOffset, body.byteLength) };
  if (body instanceof Blob) {
    const type = body.type === '' ? {} : { 'content-type': body.type };
    const headers = { ...type, 'content-length': body.size };
    return { stream: Readable.from(body.stream()), headers };
  }
  return { stream: Readable.from(body as unknown as AsyncIterable<Uint8Array>) };
};

/**
 * What the client reads of a Response. A file, which is the caller's own, is a real one: loading that class takes as long
 * as a whole call of the command line.
 */
const responseOf = (message: IncomingMessage, { signal }: Init): Response => {
  const { statusCode: status = 0 } = message;
  const headers = message.headers as Record<string, string | undefined>;
  if (headers['content-disposition'] !== undefined)
    return new Response(Readable.toWeb(message) as BodyInit, {
      status,
      headers: headersOf(message),
    });
  // Nothing will read it, and until it is read its connection is not free for another call.
  if (headers['content-type'] === undefined) message.resume();
  const all = (): Promise<string> =>
    text(message).catch((error: unknown) => {
      throw signal?.aborted ? signal.reason : error;
    });
  const light = {
    status,
    ok: status >= 200 && status < 300,
    headers: {
      get: (name: string) => headers[name.toLowerCase()] ?? null,
      has: (name: string) => headers[name.toLowerCase()] !== undefined,
    },
    text: all,
    json: async () => JSON.parse(await all()) as unknown,
    get body() {
      return Readable.toWeb(message);
    },
  };
  return light as unknown as Response;
};

const headersOf = ({ headers }: IncomingMessage): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
