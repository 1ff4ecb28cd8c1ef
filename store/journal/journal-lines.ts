import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { hasCode } from '../disk/durable.ts';

/** The lines of a journal as a file holds them. */
export interface Lines {
  lines: string[];
  /** Where the last whole line ends. */
  end: number;
  /** Where the last sound line ends. */
  sound: number;
  bad: { line: number; at: number }[];
  /** All up to the zeros that the file is filled with. */
  used: Buffer;
}

/** Reads a whole file, up to the zeros that it is filled with. No file: no lines. */
export const readLines = (path: string): Lines => {
  const bytes = readOrEmpty(path);
  const zeros = bytes.indexOf(0);
  const used = zeros < 0 ? bytes.length : zeros;
  const lines: string[] = [];
  const bad: Lines['bad'] = [];
  let end = 0;
  let sound = 0;
  for (let from = 0; from < used; ) {
    const stop = bytes.indexOf(10, from);
    if (stop < 0 || stop >= used) break;
    const line = checked(bytes.subarray(from, stop));
    end = stop + 1;
    if (line === undefined) bad.push({ line: lines.length + bad.length + 1, at: from });
    else {
      lines.push(line);
      sound = end;
    }
    from = end;
  }
  return { lines, end, sound, bad, used: bytes.subarray(0, used) };
};

const readOrEmpty = (path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return Buffer.alloc(0);
    throw error;
  }
};

/** The JSON of a line; undefined when it is not what its checksum says. */
export const checked = (line: Buffer): string | undefined => {
  const json = line.subarray(9);
  return line.toString('latin1', 0, 8) === checksum(json) ? json.toString('utf8') : undefined;
};

const checksum = (json: string | Buffer): string => crc32(json).toString(16).padStart(8, '0');

/** What is appended for these lines: each behind its checksum. */
export const encode = (lines: Iterable<string>): Buffer => {
  const parts: string[] = [];
  for (const line of lines) parts.push(checksum(line), ' ', line, '\n');
  return Buffer.from(parts.join(''));
};
