import { etagOf } from '../../store/base/names.ts';
import { jsonText, visible } from '../../store/base/visible.ts';
import { disposition } from './download.ts';
import { Answer } from './route.ts';

/** 201, or 202 for a long job, with a `Location`. `body` is a value or ready JSON bytes; `etag` is unquoted. */
export const created = <T>(location: string, body: T | Buffer, etag?: string): Answer<T> =>
  new Answer<T>(body, { location }, etag);

/** An answer with an ETag: a client that has this version gets 304 without a body. */
export const tagged = <T>(body: T | Buffer, etag: string): Answer<T> =>
  new Answer<T>(body, {}, etag);

interface TextAnswered {
  content: string;
  sha256: string;
}

/** A Markdown file, byte for byte. */
export const markdown = ({ content, sha256 }: TextAnswered): Answer<string> =>
  new Answer<string>(content, { 'content-type': 'text/markdown; charset=utf-8' }, etagOf(sha256));

/**
 * A text to be read before it is approved: control and invisible characters are shown as `␛` or `⟦U+202E⟧`. The ETag is
 * the hash of the file on disk.
 */
export const visibleMarkdown = ({ content, sha256 }: TextAnswered): Answer<string> =>
  markdown({ content: visible(content), sha256 });

/** A patch as bytes: its lines are in the encodings of the files. */
export const patchAnswer = (patch: Buffer): Answer<string> =>
  new Answer<string>(patch, { 'content-type': 'text/x-diff; charset=utf-8' });

/** The bytes of an answer's body: a Buffer as it is, a string with a content-type as text, anything else as JSON. */
export const bodyBytes = ({ body, headers }: Answer<unknown>): Buffer | undefined => {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  const text = typeof body === 'string' && 'content-type' in headers ? body : jsonText(body);
  return Buffer.from(text);
};

/**
 * A file of untrusted origin. A browser displays it only if `type` is given, runs no code in it, and gives it to no other
 * origin.
 */
export const untrustedFile = ({
  name,
  bytes,
  sha256,
  type,
}: {
  name: string;
  bytes: Buffer;
  sha256: string;
  type: string | undefined;
}): Answer<string> =>
  new Answer<string>(
    bytes,
    {
      'content-type': type ?? 'application/octet-stream',
      'content-disposition': disposition(type === undefined ? 'attachment' : 'inline', name),
      'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
      'cross-origin-resource-policy': 'same-origin',
    },
    etagOf(sha256),
  );
