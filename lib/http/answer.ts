import { jsonText, visible } from '../../store/base/visible.ts';
import { disposition } from './download.ts';
import { Answer } from './route.ts';

/** 201, or 202 of a long job, with `Location` of it. `body` is a value or the ready JSON bytes; `etag` goes unquoted. */
export const created = <T>(location: string, body: T | Buffer, etag?: string): Answer<T> =>
  new Answer<T>(body, { location }, etag);

/** An answer with an ETag: a client that has this version already is sent 304 and no body. */
export const tagged = <T>(body: T | Buffer, etag: string): Answer<T> =>
  new Answer<T>(body, {}, etag);

interface TextAnswered {
  content: string;
  sha256: string;
}

/** A text file byte for byte. */
export const markdown = ({ content, sha256 }: TextAnswered): Answer<string> =>
  new Answer<string>(
    content,
    { 'content-type': 'text/markdown; charset=utf-8' },
    sha256.slice(0, 32),
  );

/**
 * A text that is read before it is approved, with all that is in it to be seen: what would be hidden is shown as `␛` or
 * `⟦U+202E⟧`. The ETag is of the file's hash, as it is on disk.
 */
export const visibleMarkdown = ({ content, sha256 }: TextAnswered): Answer<string> =>
  markdown({ content: visible(content), sha256 });

/** Bytes: the lines of a patch are written as the files are that it changes. */
export const patchAnswer = (patch: Buffer): Answer<string> =>
  new Answer<string>(patch, { 'content-type': 'text/x-diff; charset=utf-8' });

/** The bytes of an answer's body. A ready Buffer costs nothing more; a text that names its type is no JSON. */
export const bodyBytes = ({ body, headers }: Answer<unknown>): Buffer | undefined => {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  const text = typeof body === 'string' && 'content-type' in headers ? body : jsonText(body);
  return Buffer.from(text);
};

/**
 * A file that somebody else made: a browser shows it only where `type` says as what, and runs nothing in it; no page of
 * another site gets it.
 */
export const strangeFile = ({
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
    sha256.slice(0, 32),
  );
