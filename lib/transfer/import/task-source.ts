import { isUtf8 } from 'node:buffer';
import { openSync, readSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { whileOpen } from '../../../store/base/open-file.ts';
import { jsonErrorPlace } from '../../../store/base/text.ts';
import { type FileProblem, Problem } from '../../../store/front-matter/problem.ts';
import { readRegularFile } from '../../../store/front-matter/record-file.ts';
import { statsAt } from '../../../store/fs/plain-path.ts';
import { record } from '../../text/unknown-json.ts';

/** A task of another tool, in the common form of all readers. */
export interface SourceTask {
  /** The key by which other tasks of the source name this one. */
  key: string;
  /** Unique and stable; the id of the Work item is derived from it. */
  identity: string;
  /** A second identity, for tools that give two tasks the same one. Without it the second task is a problem. */
  spare?: string;
  /** The place of the task for messages: `issues.jsonl:12`. */
  file: string;
  /** Hash of all fields of the task. */
  sha256: string;
  title: string;
  type: string;
  labels: readonly string[];
  fate: TaskState;
  created: Date | undefined;
  updated: Date | undefined;
  body: string;
  /** The keys of the tasks that it names, by the names it uses. */
  names: ReadonlyMap<string, string>;
  /** Fields that a Work item does not have, unchanged. */
  raw: Record<string, unknown>;
}

export type TaskState = 'open' | 'blocked' | 'done' | 'dropped';

/** The tasks of another tool. Readers write nothing and follow no links. */
export interface TaskSource {
  /** The tool's name. */
  tool: string;
  /** The front matter key for `raw` fields. */
  key: string;
  name: string;
  /** The path that was read. */
  at: string;
  tasks: readonly SourceTask[];
  /** Unreadable tasks. They do not prevent the import of others. */
  problems: readonly FileProblem[];
  /** Descriptions of what is not imported. */
  left: readonly string[];
}

/** A value as text; empty for none. */
export const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** The text after a round trip through UTF-8, without lone surrogates. */
export const wellFormed = (text: string): string => Buffer.from(text).toString('utf8');

/** One value or a list, as texts. */
export const listOf = (value: unknown): string[] => {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(textOf);
};

/** Matches states of cancelled tasks. */
export const GIVEN_UP = /^(?:won.?t|cancel|reject|abandon|invalid|duplicate|obsolete)/i;

const DATE =
  /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|[+-]\d{2}:\d{2})?)?$/;
const OLD_DATE = /^(\d{2})[-/.](\d{2})[-/.](\d{2})$/;

/**
 * Parses a time, as text or milliseconds since 1970; UTC if it names no zone. Undefined for other values, and for years
 * before 1970, which some tools write for no time.
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

/** The bytes of a file of another tool. Throws a Problem if it is missing or too large. */
export const sourceBytes = (path: string): Buffer => {
  const { size = 0 } = statsAt(path) ?? {};
  if (size > MAX_BYTES)
    throw new Problem(
      'too_large',
      `${basename(path)} has ${size} bytes; the limit is ${MAX_BYTES}`,
    );
  const bytes = readRegularFile(dirname(path), path);
  if (bytes === undefined) throw new Problem('not_found', `There is no ${basename(path)}`);
  return bytes;
};

const MAX_BYTES = 268_435_456;

/** The first bytes of a file, as Latin-1 text. */
export const beginningOf = (path: string, length: number): string => {
  const bytes = Buffer.alloc(length);
  whileOpen(openSync(path, 'r'), (descriptor) => readSync(descriptor, bytes));
  return bytes.toString('latin1');
};

/** Parses a JSON object that begins at `line` of its file. Throws a Problem with the place of the error. */
export const objectIn = (bytes: Buffer, line = 1): Record<string, unknown> => {
  const value = jsonIn(bytes, line);
  const read = record(value);
  if (read === value) return read;
  throw new Problem('not_an_object', 'There is no JSON object here', { line, column: 1 });
};

const jsonIn = (bytes: Buffer, line: number): unknown => {
  if (!isUtf8(bytes)) throw new Problem('not_utf8', 'This is not UTF-8', { line, column: 1 });
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  try {
    return JSON.parse(text);
  } catch (error) {
    const at = jsonErrorPlace(text, error as SyntaxError);
    if (at === undefined) throw new Problem('not_json', 'This is not JSON', { line, column: 1 });
    const place = { ...at, line: line + at.line - 1 };
    throw new Problem('not_json', 'From here on this is not JSON', place);
  }
};
