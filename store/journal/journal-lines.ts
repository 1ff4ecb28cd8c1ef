import { fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import { orElse } from '../base/attempt.ts';
import { whileOpen } from '../base/open-file.ts';

/** A line that does not match its checksum. */
export interface Damage {
  /** The name of the file. */
  file: string;
  /** The line number, from 1. */
  line: number;
  at: number;
}

/** The result of reading a journal file, besides its lines. */
interface JournalReading {
  /** The number of lines, valid or damaged. */
  count: number;
  /** The end of the last line, valid or damaged. */
  end: number;
  /** The end of the last valid line. */
  sound: number;
  damaged: Damage[];
  /** The start of the zeros at the end of the file. */
  used: number;
}

const PIECE = 1_048_576;
// Longer than any line: more bytes without a newline are damage, and must not collect in memory.
const LONGEST = 67_108_864;

/** Receives a line, or undefined if it is unreadable, and the number of damaged bytes. */
export type LineHandler = (json: string | undefined, lost: number) => void;

/**
 * Reads a file piece by piece and passes each line to `tell`, in order. A wrong byte damages only its own line. A missing
 * file has no lines.
 */
export const readJournalLines = (path: string, tell: LineHandler): JournalReading => {
  const reading: JournalReading = { count: 0, end: 0, sound: 0, damaged: [], used: 0 };
  const opened = orElse(() => openSync(path, 'r'), undefined, 'ENOENT');
  if (opened === undefined) return reading;
  const take = (line: Buffer, at: number): void => {
    const { json, lost } = lineIn(line);
    reading.count += 1;
    reading.end = at + line.length + 1;
    if (lost > 0) reading.damaged.push({ file: basename(path), line: reading.count, at });
    if (json !== undefined) reading.sound = reading.end;
    tell(json, lost);
  };
  return whileOpen(opened, (descriptor) => {
    reading.used = endOfUse(descriptor);
    eachLine(descriptor, reading.used, take);
    return reading;
  });
};

// Zeros at the end of the file are reserved space; zeros among the lines are damage.
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

/** The JSON of a line and its number of damaged bytes. If damage hit a newline, a valid line may follow in the same bytes. */
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

/** Encodes lines for the file, each after its checksum. */
export const encode = (lines: Iterable<string>): Buffer => {
  const parts: string[] = [];
  for (const line of lines) parts.push(checksum(line), ' ', line, '\n');
  return Buffer.from(parts.join(''));
};
