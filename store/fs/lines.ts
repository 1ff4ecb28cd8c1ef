import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { basename } from 'node:path';
import { hasCode, orElse } from '../base/attempt.ts';
import { whileOpen } from '../base/open-file.ts';
import { notRegular } from './plain-path.ts';

// Also the memory that a slow reader costs.
const CHUNK = 16_384;

/** Parses a line; undefined if it is invalid. */
type ParseLine<T> = (line: string) => T | undefined;

/**
 * Opens a file of JSON lines for appending. A last line that a crash cut short is removed; a complete one that only lacks
 * its newline gets it back.
 */
export const openLines = (path: string, parse: ParseLine<unknown>): number => {
  const descriptor = openRegular(path, O_RDWR | O_APPEND | O_CREAT);
  const { size } = fstatSync(descriptor);
  const end = afterNewline(descriptor, size);
  if (end === size) return descriptor;
  if (parse(textAt(descriptor, end, size)) === undefined) ftruncateSync(descriptor, end);
  else addLines(descriptor, '\n');
  return descriptor;
};

/** Appends whole lines and returns their bytes. If the disk takes only a part, throws; the next open removes that part. */
export const addLines = (descriptor: number, text: string): number => {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
  return bytes.length;
};

/** The value of the last valid line, and the number of invalid lines after it. Reads only the end of the file. */
export const lastLine = <T>(path: string, parse: ParseLine<T>): { value?: T; unread: number } => {
  let unread = 0;
  const look = (descriptor: number): { value?: T; unread: number } => {
    for (let end = fstatSync(descriptor).size; end > 0; ) {
      const start = afterNewline(descriptor, end - 1);
      const line = textAt(descriptor, start, end);
      const value = parse(line);
      if (value !== undefined) return { value, unread };
      if (line.endsWith('\n') && line.trim() !== '') unread += 1;
      end = start;
    }
    return { unread };
  };
  return ifThere(path, look) ?? { unread };
};

// The greatest size that is held in memory.
const NEWEST_BYTES = 16_777_216;

/**
 * The newest lines of a file, oldest first: at most `count` lines and 16 MB, of which the first line may be cut. Reads
 * only the end of the file.
 */
export const newestLines = (path: string, count: number): string[] => {
  const text = ifThere(path, (descriptor) => {
    const { size } = fstatSync(descriptor);
    return textAt(descriptor, startOfNewest(descriptor, size, count), size);
  });
  return (text ?? '').split('\n').filter((line) => line !== '');
};

const startOfNewest = (descriptor: number, size: number, count: number): number => {
  const least = Math.max(0, size - NEWEST_BYTES);
  const buffer = Buffer.alloc(CHUNK);
  let left = count;
  for (let end = size - 1; end > least; ) {
    const from = Math.max(least, end - CHUNK);
    const bytes = buffer.subarray(0, readSync(descriptor, buffer, 0, end - from, from));
    for (
      let at = bytes.lastIndexOf(10);
      at >= 0;
      at = at > 0 ? bytes.lastIndexOf(10, at - 1) : -1
    ) {
      left -= 1;
      if (left === 0) return from + at + 1;
    }
    end = from;
  }
  return least;
};

const textAt = (descriptor: number, start: number, end: number): string => {
  const bytes = Buffer.alloc(end - start);
  return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, start));
};

// The offset after the last newline before `before`; 0 if there is none.
const afterNewline = (descriptor: number, before: number): number => {
  const buffer = Buffer.alloc(CHUNK);
  for (let end = before; end > 0; ) {
    const from = Math.max(0, end - CHUNK);
    const read = readSync(descriptor, buffer, 0, end - from, from);
    const newline = buffer.subarray(0, read).lastIndexOf(10);
    if (newline >= 0) return from + newline + 1;
    end = from;
  }
  return 0;
};

/** The valid lines from `offset` on, about 16 KB of them, and the offset to continue from. */
export const readLinesFrom = <T>(
  path: string,
  offset: number,
  parse: ParseLine<T>,
): { values: T[]; next: number } => {
  const bytes = readBytes(path, offset);
  const values = bytes
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => parse(line) ?? []);
  return { values, next: offset + bytes.length };
};

/**
 * Finds a position in an ordered file by binary search: the start of a line, at most about 16 KB before the first value
 * for which `isBefore` is false. Reads only a few lines.
 */
export const seekLines = <T>(
  path: string,
  parse: ParseLine<T>,
  isBefore: (value: T) => boolean,
): number => {
  let [from, to] = [0, sizeOf(path)];
  while (to - from > CHUNK) {
    const middle = Math.floor((from + to) / 2);
    const found = lineAfter(path, middle, parse);
    if (found !== undefined && found.start < to && isBefore(found.value)) from = found.start;
    else to = middle;
  }
  return from;
};

// The first valid line that starts after this offset; undefined if the next 16 KB have none.
const lineAfter = <T>(
  path: string,
  place: number,
  parse: ParseLine<T>,
): { start: number; value: T } | undefined => {
  const bytes = readBytes(path, place);
  for (let at = bytes.indexOf(10) + 1; at < bytes.length; ) {
    const end = bytes.indexOf(10, at);
    const value = parse(bytes.toString('utf8', at, end));
    if (value !== undefined) return { start: place + at, value };
    at = end + 1;
  }
  return undefined;
};

const sizeOf = (path: string): number => lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;

const readBytes = (path: string, offset: number): Buffer => {
  const look = (descriptor: number): Buffer | undefined => {
    for (let size = CHUNK; ; size *= 4) {
      const buffer = Buffer.alloc(size);
      const read = readSync(descriptor, buffer, 0, size, offset);
      const end = buffer.subarray(0, read).lastIndexOf(10);
      if (end >= 0) return buffer.subarray(0, end + 1);
      if (read < size) return undefined;
    }
  };
  return ifThere(path, look) ?? Buffer.alloc(0);
};

/** Runs `read` on an open file; undefined if there is none. */
const ifThere = <T>(path: string, read: (descriptor: number) => T): T | undefined => {
  const descriptor = orElse(() => openRegular(path, O_RDONLY), undefined, 'ENOENT');
  return descriptor === undefined ? undefined : whileOpen(descriptor, read);
};

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

// Follows no link, and does not wait for the other end of a pipe.
const openRegular = (path: string, flags: number): number => {
  const descriptor = openPlain(path, flags);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw notRegular(basename(path));
};

const openPlain = (path: string, flags: number): number => {
  try {
    return openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o644);
  } catch (error) {
    if (hasCode(error, 'ELOOP', 'EISDIR', 'ENXIO')) throw notRegular(basename(path));
    throw error;
  }
};
