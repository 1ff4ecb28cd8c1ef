import { isUtf8 } from 'node:buffer';
import { Problem, type TextPosition } from './problem.ts';

const MAX_FILE_BYTES = 1_048_576 + 65_536;

/** Decodes a record file. An empty file is refused: it is often a save in progress. */
export const decodeRecord = (bytes: Uint8Array): string => {
  if (bytes.length > 0) return decodeText(bytes);
  throw new Problem('empty_file', 'The file is empty. Put its content back, or remove the file');
};

/** Decodes a text file; throws a Problem for its size, NUL bytes, invalid UTF-8 or conflict markers. */
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
    ? 'The file contains only NUL bytes, probably after a power cut. Restore an older version'
    : 'The file contains a NUL byte here. Remove it, or restore an older version';
  throw new Problem('nul_byte', message, placeAt(bytes, nul));
};

const isUtf16 = ([first, second]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);

/** Whether the content is only NUL bytes: it never reached the disk. */
export const isAllNul = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

// TextDecoder returns strings that take several times the memory.
const decodeUtf8 = (bytes: Uint8Array): string => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (isUtf8(bytes)) return text;
  throw new Problem(
    'not_utf8',
    'The file is not valid UTF-8 from here on. Save it as UTF-8',
    placeAt(bytes, firstBadByte(bytes, text)),
  );
};

// The first decoded replacement character that is not in the bytes.
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

/** Line and column of a byte. Columns count characters, as in editors and the YAML parser. */
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
  const line = conflictLine(text);
  if (line === undefined) return text;
  throw new Problem(
    'conflict_markers',
    'An unresolved merge conflict starts here. Choose one side and remove the marker lines',
    { line, column: 1 },
  );
};

/**
 * The line in which the first unresolved merge conflict starts: all three markers in order, because a text may quote one of them.
 */
export const conflictLine = (text: string): number | undefined => {
  if (!text.includes('\n>>>>>>> ')) return undefined;
  // A regular expression would take quadratic time.
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith('<<<<<<< '));
  const middle = after(lines, start, (line) => /^=======\r?$/.test(line));
  const end = after(lines, middle, (line) => line.startsWith('>>>>>>> '));
  return end < 0 ? undefined : start + 1;
};

const after = (lines: string[], from: number, isIt: (line: string) => boolean): number =>
  from < 0 ? -1 : lines.findIndex((line, at) => at > from && isIt(line));

/**
 * Makes foreign text safe to store in a record: lone surrogates and NULs become U+FFFD, and conflict markers are indented
 * by one blank. Idempotent.
 */
export const storable = (text: string): string => {
  const plain = text.replaceAll(UNSTORABLE, '\uFFFD');
  return conflictLine(plain) === undefined ? plain : plain.replaceAll(MARKER, ' $&');
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches NUL
const UNSTORABLE = /\p{Cs}|\u0000/gu;
const MARKER = /^(?:<<<<<<< |=======\r?$|>>>>>>> )/gm;
