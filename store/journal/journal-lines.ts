import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import { hasCode } from '../fs/durable.ts';

/** A line that is not what its checksum says. */
export interface Damage {
  /** The name of the file. */
  file: string;
  /** Its number, from 1. */
  line: number;
  at: number;
}

/** What reading a journal came upon besides its lines. */
export interface JournalReading {
  /** How many lines there are, whole or damaged. */
  count: number;
  /** Where the last line ends, whole or damaged. */
  end: number;
  /** Where the last sound line ends. */
  sound: number;
  damaged: Damage[];
  /** Where the zeros begin that the file is filled with. */
  used: number;
}

const PIECE = 1_048_576;
// No line is that long: without a newline until then it is damage, which must not be gathered in memory.
const LONGEST = 67_108_864;

/** Hears of a line; undefined where nothing of it can be read. `lost` is how many of its bytes are damage. */
export type TellLine = (json: string | undefined, lost: number) => void;

/**
 * Reads a whole file piece by piece, and tells of each line in order. A byte that is wrong costs the line that it is in
 * and no other. No file: no lines.
 */
export const readJournalLines = (path: string, tell: TellLine): JournalReading => {
  const reading: JournalReading = { count: 0, end: 0, sound: 0, damaged: [], used: 0 };
  const descriptor = openOrNot(path);
  if (descriptor === undefined) return reading;
  const take = (line: Buffer, at: number): void => {
    const { json, lost } = lineIn(line);
    reading.count += 1;
    reading.end = at + line.length + 1;
    if (lost > 0) reading.damaged.push({ file: basename(path), line: reading.count, at });
    if (json !== undefined) reading.sound = reading.end;
    tell(json, lost);
  };
  try {
    reading.used = endOfUse(descriptor);
    eachLine(descriptor, reading.used, take);
    return reading;
  } finally {
    closeSync(descriptor);
  }
};

const openOrNot = (path: string): number | undefined => {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};

// The file is filled with zeros ahead of its lines: those at its end say nothing, one among lines is damage.
const endOfUse = (descriptor: number): number => {
  const bytes = Buffer.alloc(PIECE);
  for (let end = fstatSync(descriptor).size; end > 0; ) {
    const from = Math.max(0, end - PIECE);
    let at = readSync(descriptor, bytes, 0, end - from, from);
    while (at > 0 && bytes[at - 1] === 0) at -= 1;
    if (at > 0) return from + at;
    end = from;
  }
  return 0;
};

const eachLine = (
  descriptor: number,
  used: number,
  take: (line: Buffer, at: number) => void,
): void => {
  let rest = Buffer.alloc(0);
  for (let at = 0; at < used; ) {
    const piece = Buffer.alloc(Math.min(PIECE, used - at));
    const read = readSync(descriptor, piece, 0, piece.length, at);
    if (read === 0) return;
    const bytes = Buffer.concat([rest, piece.subarray(0, read)]);
    const start = at - rest.length;
    let from = 0;
    for (let stop = bytes.indexOf(10); stop >= 0; stop = bytes.indexOf(10, from)) {
      take(bytes.subarray(from, stop), start + from);
      from = stop + 1;
    }
    at = start + bytes.length;
    rest = bytes.subarray(from);
    if (rest.length <= LONGEST) continue;
    take(rest.subarray(0, -1), at - rest.length);
    rest = Buffer.alloc(0);
  }
};

/** The JSON of a line and how many of its bytes are damage: where that took a newline, a sound line may be behind it. */
export const lineIn = (line: Buffer): { json?: string; lost: number } => {
  const json = checked(line);
  if (json !== undefined) return { json, lost: 0 };
  for (const { index } of line.toString('latin1').matchAll(BEGINNING)) {
    const behind = checked(line.subarray(index));
    if (behind !== undefined) return { json: behind, lost: index };
  }
  return { lost: line.length + 1 };
};

const BEGINNING = /(?<=.)[0-9a-f]{8} \{/gs;

const checked = (line: Buffer): string | undefined => {
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
