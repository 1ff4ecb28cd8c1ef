import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { messageOf } from '../../../store/base/attempt.ts';
import { Problem } from '../../../store/front-matter/problem.ts';
import { readRegularFile } from '../../../store/front-matter/record-file.ts';
import { statsAt } from '../../../store/fs/plain-path.ts';
import { mapOf } from './task-source.ts';

/** The bytes of a file of another tool. Throws the Problem of one that is too large, or none. */
export const sourceBytes = (path: string): Buffer => {
  const { size = 0 } = statsAt(path) ?? {};
  if (size > MAX_BYTES)
    throw new Problem(
      'too_large',
      `${basename(path)} has ${size} bytes; at most ${MAX_BYTES} are read`,
    );
  const bytes = readRegularFile(dirname(path), path);
  if (bytes === undefined) throw new Problem('not_found', `There is no ${basename(path)}`);
  return bytes;
};

const MAX_BYTES = 268_435_456;

/** The first bytes of a file, each as a character. */
export const beginningOf = (path: string, length: number): string => {
  const bytes = Buffer.alloc(length);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, bytes);
  } finally {
    closeSync(descriptor);
  }
  return bytes.toString('latin1');
};

/** A JSON object. Throws the Problem of what is none, with its place; `line` is where the bytes begin. */
export const objectIn = (bytes: Buffer, line = 1): Record<string, unknown> => {
  const value = jsonIn(bytes, line);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return mapOf(value);
  throw new Problem('not_an_object', 'There is no JSON object here', { line, column: 1 });
};

const jsonIn = (bytes: Buffer, line: number): unknown => {
  if (!isUtf8(bytes)) throw new Problem('not_utf8', 'This is not UTF-8', { line, column: 1 });
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  try {
    return JSON.parse(text);
  } catch (error) {
    const at = positionIn(messageOf(error));
    if (at === undefined) throw new Problem('not_json', 'This is not JSON', { line, column: 1 });
    const before = text.slice(0, at).split('\n');
    const place = { line: line + before.length - 1, column: (before.at(-1)?.length ?? 0) + 1 };
    throw new Problem('not_json', 'From here on this is not JSON', place);
  }
};

// Only the message tells where, and not always.
const positionIn = (message: string): number | undefined => {
  const found = / at position (\d+)/.exec(message)?.[1];
  return found === undefined ? undefined : Number(found);
};
