import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { basename } from 'node:path';
import { StoreError } from '../errors.ts';
import { hasCode } from './durable.ts';

const CHUNK = 65_536;

/** A file of JSON lines, opened to add to it; a last line that a crash tore is cut off. */
export const openLines = (path: string): number => {
  const descriptor = openRegular(path, O_RDWR | O_APPEND | O_CREAT);
  ftruncateSync(descriptor, afterNewline(descriptor, fstatSync(descriptor).size));
  return descriptor;
};

/** Adds whole lines. Throws when the disk takes only a part: whoever opens the file again cuts that part off. */
export const addLines = (descriptor: number, text: string): void => {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
};

/** The value of the last whole line that is JSON. Reads the end of the file only. */
export const lastLine = <T>(path: string): T | undefined => {
  const descriptor = openIfThere(path);
  if (descriptor === undefined) return undefined;
  try {
    let end = afterNewline(descriptor, fstatSync(descriptor).size);
    while (end > 0) {
      const start = afterNewline(descriptor, end - 1);
      const line = Buffer.alloc(end - start);
      readSync(descriptor, line, 0, line.length, start);
      const [value] = parseLine<T>(line.toString('utf8'));
      if (value !== undefined) return value;
      end = start;
    }
    return undefined;
  } finally {
    closeSync(descriptor);
  }
};

// The place after the last newline before `end`; 0 when there is none.
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

/** The values of whole lines from `offset` on, about 64 KB of them, and where to go on. Lines that are no JSON are left out. */
export const readLines = <T>(path: string, offset: number): { values: T[]; next: number } => {
  const bytes = readBytes(path, offset);
  const lines = bytes.toString('utf8').split('\n').slice(0, -1);
  return { values: lines.flatMap((line) => parseLine<T>(line)), next: offset + bytes.length };
};

export const allLines = function* <T>(path: string): Generator<T> {
  for (let offset = 0; ; ) {
    const { values, next } = readLines<T>(path, offset);
    if (next === offset) return;
    yield* values;
    offset = next;
  }
};

const parseLine = <T>(line: string): T[] => {
  try {
    return [JSON.parse(line) as T];
  } catch {
    return [];
  }
};

const readBytes = (path: string, offset: number): Buffer => {
  const descriptor = openIfThere(path);
  if (descriptor === undefined) return Buffer.alloc(0);
  try {
    for (let size = CHUNK; ; size *= 4) {
      const buffer = Buffer.alloc(size);
      const read = readSync(descriptor, buffer, 0, size, offset);
      const end = buffer.subarray(0, read).lastIndexOf(10);
      if (end >= 0) return buffer.subarray(0, end + 1);
      if (read < size) return Buffer.alloc(0);
    }
  } finally {
    closeSync(descriptor);
  }
};

const openIfThere = (path: string): number | undefined => {
  try {
    return openRegular(path, O_RDONLY);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

// Neither through a link, nor waiting for whoever is at the other end of a pipe.
const openRegular = (path: string, flags: number): number => {
  const descriptor = openPlain(path, flags);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw notRegular(path);
};

const openPlain = (path: string, flags: number): number => {
  try {
    return openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o644);
  } catch (error) {
    if (hasCode(error, 'ELOOP', 'EISDIR', 'ENXIO')) throw notRegular(path);
    throw error;
  }
};

const notRegular = (path: string): StoreError =>
  new StoreError(
    'unsafe_path',
    `${basename(path)} is not a regular file; nothing was read or written`,
  );
