import { isUtf8 } from 'node:buffer';
import { Problem } from './problem.ts';

const MAX_FILE_BYTES = 1_048_576 + 65_536;

/** Bytes of a file as text, or the Problem that keeps them from being one: size, NUL, UTF-8, a merge left open. */
export const decodeText = (bytes: Uint8Array): string => {
  if (bytes.length > MAX_FILE_BYTES) {
    throw new Problem(
      'too_large',
      `The file has ${bytes.length} bytes; a record has at most ${MAX_FILE_BYTES}`,
    );
  }
  const nul = bytes.indexOf(0);
  if (nul >= 0)
    throw new Problem('nul_byte', `There is a NUL byte at offset ${nul}`, lineAt(bytes, nul));
  return withoutConflict(decodeUtf8(bytes));
};

// Not TextDecoder: its strings take several times the memory, and a workspace keeps many.
const decodeUtf8 = (bytes: Uint8Array): string => {
  if (!isUtf8(bytes)) throw new Problem('not_utf8', 'The file is not UTF-8 text');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
};

const lineAt = (bytes: Uint8Array, offset: number): { line: number; column: number } => {
  let line = 1;
  let start = 0;
  for (let at = bytes.indexOf(10); at >= 0 && at < offset; at = bytes.indexOf(10, at + 1)) {
    line += 1;
    start = at + 1;
  }
  return { line, column: offset - start + 1 };
};

const withoutConflict = (text: string): string => {
  if (!text.includes('\n>>>>>>> ')) return text;
  const line = openMerge(text.split('\n'));
  if (line === undefined) return text;
  throw new Problem('conflict_markers', 'git left a merge conflict open here', { line, column: 1 });
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
