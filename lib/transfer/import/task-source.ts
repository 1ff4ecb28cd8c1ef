import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { messageOf } from '../../../store/base/message-of.ts';
import { type FileProblem, Problem } from '../../../store/front-matter/problem.ts';
import { readRegularFile } from '../../../store/front-matter/record-file.ts';
import { statsAt } from '../../../store/fs/plain-path.ts';

/** A task of another tool, as every importer reads it. */
export interface SourceTask {
  /** By what others of the same source name it. */
  key: string;
  /** The same whenever the task is read, and no other's: its Work item's id is made from it. */
  identity: string;
  /** The identity instead, where a tool gives one to two tasks. Without it the second is told as a problem. */
  spare?: string;
  /** Where it stands, as it is told: `issues.jsonl:12`. */
  file: string;
  /** Of all that the tool says of it. */
  sha256: string;
  title: string;
  type: string;
  labels: readonly string[];
  fate: Fate;
  created: Date | undefined;
  updated: Date | undefined;
  body: string;
  /** The keys of the tasks that it names, by the names as they stand in it. */
  names: ReadonlyMap<string, string>;
  /** What a Work item has no place for, as it is. */
  raw: Record<string, unknown>;
}

export type Fate = 'open' | 'blocked' | 'done' | 'dropped';

/** The tasks of another tool, read: nothing of it is written, and no link of it is followed. */
export interface TaskSource {
  /** As it calls itself. */
  tool: string;
  /** The key of the front matter below which all stands that a Work item has no place for. */
  key: string;
  name: string;
  /** Where it was read. */
  at: string;
  tasks: readonly SourceTask[];
  /** What cannot be read. It keeps no other from coming in. */
  problems: readonly FileProblem[];
  /** What stays where it is, in words. */
  left: readonly string[];
}

/** A value as a text; empty for none. */
export const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** The text as it is read back once it was written: half of a character is none. */
export const wellFormed = (text: string): string => Buffer.from(text).toString('utf8');

/** One value, or many, as texts. */
export const listOf = (value: unknown): string[] => {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(textOf);
};

/** A mapping's values; none of what is no mapping. */
export const mapOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

/** How a state says that a task was given up. */
export const GIVEN_UP = /^(?:won.?t|cancel|reject|abandon|invalid|duplicate|obsolete)/i;

const DATE =
  /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|[+-]\d{2}:\d{2})?)?$/;
const OLD_DATE = /^(\d{2})[-/.](\d{2})[-/.](\d{2})$/;

/**
 * A time as tools write it: a text, or the milliseconds since 1970; one that names no zone is UTC. Undefined for what is
 * none, such as the year 1 of a program that had no time to write.
 */
export const timeOf = (value: unknown): Date | undefined => {
  const time = typeof value === 'number' ? new Date(value) : timeIn(textOf(value).trim());
  return time.getTime() >= 0 && time.getTime() < LAST ? time : undefined;
};

const LAST = Date.UTC(10_000);

const timeIn = (text: string): Date => {
  const [, day = '', month, year] = OLD_DATE.exec(text) ?? [];
  const [, date = '', clock = '00:00', zone = 'Z'] =
    DATE.exec(day === '' ? text : `20${year}-${month}-${day}`) ?? [];
  return new Date(`${date}T${clock}${zone}`);
};

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
