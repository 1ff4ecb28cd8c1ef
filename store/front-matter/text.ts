import { isUtf8 } from 'node:buffer';
import { Problem, type TextPosition } from './problem.ts';

const MAX_FILE_BYTES = 1_048_576 + 65_536;

/** The bytes of a record file as text; one that is empty is no record, and often only half saved. */
export const decodeRecord = (bytes: Uint8Array): string => {
  if (bytes.length > 0) return decodeText(bytes);
  throw new Problem('empty_file', 'The file is empty. Put its content back, or remove the file');
};

/** Bytes as text, or the Problem that keeps them from being one: size, NUL, UTF-8, a merge left open. */
export const decodeText = (bytes: Uint8Array): string => {
  if (bytes.length > MAX_FILE_BYTES)
    throw new Problem(
      'too_large',
      `The file has ${bytes.length} bytes; a record has at most ${MAX_FILE_BYTES}. Shorten it`,
    );
  return withoutConflict(decodeUtf8(withoutNul(bytes)));
};

const withoutNul = (bytes: Uint8Array): Uint8Array => {
  if (isUtf16(bytes))
    throw new Problem('not_utf8', 'The file is UTF-16. Save it as UTF-8', {
      line: 1,
      column: 1,
    });
  const nul = bytes.indexOf(0);
  if (nul < 0) return bytes;
  const message = isAllNul(bytes)
    ? 'The file is nothing but NUL bytes, as a power cut leaves it. Put an older version back'
    : 'There is a NUL byte here, and no text has one. Remove it, or put an older version back';
  throw new Problem('nul_byte', message, placeAt(bytes, nul));
};

const isUtf16 = ([first, second]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);

/** What a file holds whose content never reached the disk. */
export const isAllNul = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

// Not TextDecoder: its strings take several times the memory, and a workspace keeps many.
const decodeUtf8 = (bytes: Uint8Array): string => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (isUtf8(bytes)) return text;
  throw new Problem(
    'not_utf8',
    'From here on the file is not UTF-8. Save it as UTF-8',
    placeAt(bytes, firstBadByte(bytes, text)),
  );
};

// Where a replacement character was read and none was written.
const firstBadByte = (bytes: Uint8Array, text: string): number => {
  for (let at = text.indexOf('\uFFFD'), offset = 0, from = 0; at >= 0; ) {
    offset += Buffer.byteLength(text.slice(from, at));
    if (bytes[offset] !== 0xef || bytes[offset + 1] !== 0xbf || bytes[offset + 2] !== 0xbd)
      return offset;
    from = at;
    at = text.indexOf('\uFFFD', at + 1);
  }
  return bytes.length;
};

/** Line and column of a byte; columns are counted in characters, as editors and the YAML parser do. */
const placeAt = (bytes: Uint8Array, offset: number): TextPosition => {
  let line = 1;
  let start = 0;
  for (let at = bytes.indexOf(10); at >= 0 && at < offset; at = bytes.indexOf(10, at + 1)) {
    line += 1;
    start = at + 1;
  }
  return { line, column: Buffer.from(bytes.subarray(start, offset)).toString('utf8').length + 1 };
};

const withoutConflict = (text: string): string => {
  if (!text.includes('\n>>>>>>> ')) return text;
  const line = openMerge(text.split('\n'));
  if (line === undefined) return text;
  throw new Problem(
    'conflict_markers',
    'git left a merge conflict open here. Choose what is to stay and remove the marker lines',
    { line, column: 1 },
  );
};

// All three markers, in order: a text that merely quotes one of them is not a merge left open. Line by line, for a
// regular expression tries every pair of them, which in a long log takes minutes.
const openMerge = (lines: string[]): number | undefined => {
  const start = lines.findIndex((line) => line.startsWith('<<<<<<< '));
  const middle = after(lines, start, (line) => /^=======\r?$/.test(line));
  const end = after(lines, middle, (line) => line.startsWith('>>>>>>> '));
  return end < 0 ? undefined : start + 1;
};

const after = (lines: string[], from: number, isIt: (line: string) => boolean): number =>
  from < 0 ? -1 : lines.findIndex((line, at) => at > from && isIt(line));
