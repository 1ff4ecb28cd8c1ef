import { isUtf8 } from 'node:buffer';
import { ServiceError } from '../errors.ts';
import type { Route } from './route.ts';

type Headers = Record<string, string | string[] | undefined>;

// Plain text too: it is what fetch() calls a string, and what curl users write for Markdown.
const MARKDOWN = ['text/markdown', 'text/plain'];
const JSON_TYPE = ['application/json'];

/**
 * The body as the route takes it: a JSON value, undefined when nothing was sent; a text, which may be empty; or, raw, the
 * bytes themselves.
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
    throw unsupported('A compressed body is not read. Send it without Content-Encoding.');
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
    const { message } = cause as SyntaxError;
    const where = place(text, message);
    throw new ServiceError('bad_request', `The body is not valid JSON${where}: ${message}.`, {
      cause,
    });
  }
};

// V8 tells the position in the words of its message, and not always.
const place = (text: string, message: string): string => {
  const position = / at position (\d+)/.exec(message)?.[1];
  if (position === undefined) return '';
  const lines = text.slice(0, Number(position)).split('\n');
  return ` (line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1})`;
};
