import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { jsonErrorPlace } from '../../store/base/text.ts';
import { ServiceError } from '../errors.ts';
import type { Headers, Route } from './route.ts';

// fetch() sends a string as text/plain, and so do many curl users.
const MARKDOWN = ['text/markdown', 'text/plain'];
const JSON_TYPE = ['application/json'];

/**
 * Decodes the body for a route: JSON (undefined if the body is empty), Markdown (may be empty), an Upload, or the raw bytes.
 * Throws `unsupported_media_type` and `bad_request`.
 */
export const readBody = (route: Route, headers: Headers, bytes: unknown): unknown => {
  if (route.raw === true) return rawBody(headers, bytes);
  if (route.upload === true) {
    checkEncoding(headers);
    return bytes;
  }
  const isMarkdown = route.consumes === 'text/markdown';
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return isMarkdown ? '' : undefined;
  checkType(headers, isMarkdown ? MARKDOWN : JSON_TYPE);
  const text = decode(bytes);
  return isMarkdown ? text : parse(text);
};

const rawBody = (headers: Headers, bytes: unknown): Buffer => {
  checkType(headers, JSON_TYPE);
  return Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0);
};

const checkType = (headers: Headers, expected: string[]): void => {
  const sent = String(headers['content-type'] ?? '');
  const [type = '', ...parameters] = sent.split(';').map((part) => part.trim().toLowerCase());
  if (!expected.includes(type) || !parameters.every(saysUtf8)) {
    const was = sent === '' ? 'The Content-Type is missing' : `The Content-Type is ${sent}`;
    throw unsupported(`${was}. Send ${expected[0]}, in UTF-8.`);
  }
  checkEncoding(headers);
};

const checkEncoding = (headers: Headers): void => {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw unsupported('Compressed bodies are not supported. Send it without Content-Encoding.');
  }
};

const saysUtf8 = (parameter: string): boolean =>
  !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter);

const unsupported = (message: string) => new ServiceError('unsupported_media_type', message);

const decode = (bytes: Buffer): string => {
  if (!isUtf8(bytes)) throw new ServiceError('bad_request', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const error = cause as SyntaxError;
    const at = jsonErrorPlace(text, error);
    const where = at === undefined ? '' : ` (line ${at.line}, column ${at.column})`;
    throw new ServiceError('bad_request', `The body is not valid JSON${where}: ${error.message}.`, {
      cause,
    });
  }
};

/** A body that is streamed and not kept in memory. */
export interface Upload {
  /** Its Content-Type. */
  type: string;
  /** Throws `too_large`, `request_timeout` and `bad_request` as readBytes does: after the client has stopped sending. */
  chunks: AsyncIterable<Uint8Array>;
  /** Reads the rest of the body and returns the hash of all of it. */
  sha256(): Promise<string>;
}

export const isUpload = (body: unknown): body is Upload =>
  typeof body === 'object' && body !== null && 'chunks' in body;

export const createUpload = (
  body: Readable,
  { declared, type }: { declared: number; type: string },
  limits: BodyLimits,
): Upload => {
  const hash = createHash('sha256');
  const chunks = piecesOf(body, declared, limits, (piece) => hash.update(piece));
  let digest: string | undefined;
  return {
    type,
    chunks: { [Symbol.asyncIterator]: () => ({ next: () => chunks.next() }) },
    sha256: async () => {
      for await (const _ of chunks);
      digest ??= hash.digest('hex');
      return digest;
    },
  };
};

const piecesOf = async function* (
  body: Readable,
  declared: number,
  { maxBytes, patienceMs }: BodyLimits,
  see: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  const isTooLarge = () => Math.max(size, declared) > maxBytes;
  const pieces = body.iterator({ destroyOnReturn: false });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow(patienceMs)), patienceMs);
  });
  late.catch(() => undefined);
  try {
    for (;;) {
      const next = await Promise.race([pieces.next(), late]);
      if (next.done === true) break;
      const piece = next.value as Uint8Array;
      size += piece.length;
      if (isTooLarge()) continue;
      see(piece);
      yield piece;
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : brokenOff();
  } finally {
    clearTimeout(timer);
  }
  if (isTooLarge()) throw tooLarge(maxBytes);
};

interface BodyLimits {
  maxBytes: number;
  /** How long the body may take, in milliseconds. */
  patienceMs: number;
}

/**
 * Makes hapi pass the body on unread. Its own parser would check the type, and delay the answer to an oversize body until
 * the client stops sending.
 */
export const UNPARSED = {
  parse: false,
  output: 'stream',
  maxBytes: Number.MAX_SAFE_INTEGER,
  override: 'application/octet-stream',
} as const;

/**
 * Reads the whole body. Throws `too_large` and `request_timeout`, but only after the client has stopped sending or the time
 * is up: an earlier answer would be lost with the connection.
 */
export const readBytes = (body: Readable, declared: number, limits: BodyLimits): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { maxBytes, patienceMs } = limits;
    const parts: Buffer[] = [];
    let size = 0;
    const isTooLarge = () => Math.max(size, declared) > maxBytes;
    const done = (error?: ServiceError) => {
      clearTimeout(timer);
      if (isTooLarge()) reject(tooLarge(maxBytes));
      else if (error !== undefined) reject(error);
      else resolve(Buffer.concat(parts));
    };
    const timer = setTimeout(() => done(tooSlow(patienceMs)), patienceMs);
    body.on('data', (part: Buffer) => {
      size += part.length;
      if (!isTooLarge()) parts.push(part);
    });
    body.on('end', () => done());
    body.on('error', () => done(brokenOff()));
    body.on('close', () => body.readableEnded || done(brokenOff()));
  });

const tooLarge = (maxBytes: number) =>
  new ServiceError('too_large', `Send at most ${maxBytes} bytes.`, {
    members: { max_bytes: maxBytes },
  });

const tooSlow = (patienceMs: number) =>
  new ServiceError('request_timeout', `Send the whole body within ${patienceMs / 1000} seconds.`);

const brokenOff = () =>
  new ServiceError('bad_request', 'The connection closed before the whole body arrived.');
