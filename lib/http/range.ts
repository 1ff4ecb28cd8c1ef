import { ServiceError } from '../errors.ts';

/** Some of a file's bytes, the first and the last of them counted from 0. */
interface Part {
  from: number;
  to: number;
}

type Headers = Record<string, string | string[] | undefined>;

/**
 * What of a file a client asks for by `Range`; undefined where it is to have all: without one, with several or one that
 * is none (RFC 9110, 14.2), and where `If-Range` names another version. Throws `range_not_satisfiable`.
 */
export const partAsked = (headers: Headers, size: number, tag: string): Part | undefined => {
  const { range, 'if-range': version } = headers;
  if (typeof range !== 'string' || (version ?? tag) !== tag) return undefined;
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range.replaceAll(' ', '')) ?? [];
  const part = first === '' ? atEnd(last, size) : between(Number(first), last, size);
  if (part !== undefined && part.from > part.to) throw notThere(size);
  return part;
};

const atEnd = (count: string, size: number): Part | undefined =>
  count === '' ? undefined : { from: Math.max(0, size - Number(count)), to: size - 1 };

const between = (from: number, last: string, size: number): Part | undefined => {
  if (last === '') return { from, to: size - 1 };
  return Number(last) < from ? undefined : { from, to: Math.min(Number(last), size - 1) };
};

const notThere = (size: number): ServiceError =>
  new ServiceError(
    'range_not_satisfiable',
    `The file has ${size} bytes. Ask for some of them, or for all without Range.`,
    { headers: { 'content-range': `bytes */${size}` } },
  );
