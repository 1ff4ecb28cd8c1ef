import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { StoreError } from '../base/errors.ts';
import { sha256 } from '../base/sha256.ts';
import { hasCode, replaceFile } from '../fs/durable.ts';
import { assertNoLinks, isOpenAt, notRegular } from '../fs/plain-path.ts';
import { untilDone } from '../fs/retry.ts';
import type { Layout } from '../layout.ts';
import { type FrontMatter, joinFrontMatter, parseFrontMatter } from './front-matter.ts';
import { positionOf } from './parse.ts';
import { faultOf, ifReadable, Problem, type TextPosition } from './problem.ts';
import { type MatterChanges, spliceFrontMatter } from './splice.ts';
import { decodeRecord } from './text.ts';

/** What a rule wants changed: front-matter values, the body, or both. */
export interface RecordEdit {
  changes?: MatterChanges;
  /** The whole new front matter, checked by whoever made it (a list with one more element). */
  yaml?: string;
  /** The whole new body, in the file's own line ends. */
  body?: string;
}

export interface Current {
  sha: string;
  /** Throws `unreadable_record` when it is asked for and cannot be read. */
  readonly source: FrontMatter;
}

export type RecordRule = (current: Current) => RecordEdit | undefined;

/**
 * Runs a rule on the record as it is on disk this moment and writes what it wants, atomically. When somebody saves the
 * file in between, the rule runs again on what they saved: neither change is lost. False when there is no such file.
 * Throws `unreadable_record` with line and column, or `file_busy` when the file does not hold still.
 */
export const editRecord = async (
  layout: Layout,
  path: string,
  rule: RecordRule,
): Promise<boolean> => {
  const attempt = () => editOnce(layout, path, rule);
  return (await untilDone(relative(layout.root, path), attempt)) === 'there';
};

/** The same in one attempt, for who repeats more than this: false where somebody saved the file in between. */
export const editOnce = async (
  layout: Layout,
  path: string,
  rule: RecordRule,
): Promise<'there' | 'absent' | false> => {
  const bytes = readRegularFile(layout.root, path);
  if (bytes === undefined) return 'absent';
  const current = currentOf(sha256(bytes), () => readable(layout.root, path, bytes));
  const edit = rule(current);
  const text = edit === undefined ? undefined : editedText(current.source, edit);
  if (text === undefined || bytes.equals(Buffer.from(text))) return 'there';
  return (await replaceFile(layout, path, bytes, text)) && 'there';
};

/** The same of the record with that hash alone: false also where it is another by now, or gone. */
export const editKnown = async (
  layout: Layout,
  path: string,
  sha: string,
  rule: RecordRule,
): Promise<boolean> => {
  let isKnown = false;
  const done = await editOnce(layout, path, (current) => {
    isKnown = current.sha === sha;
    return isKnown ? rule(current) : undefined;
  });
  return isKnown && done === 'there';
};

const currentOf = (sha: string, parse: () => FrontMatter): Current => {
  let source: FrontMatter | undefined;
  return {
    sha,
    get source() {
      source ??= parse();
      return source;
    },
  };
};

const editedText = (
  source: FrontMatter,
  { changes = {}, yaml, body = source.body }: RecordEdit,
): string => {
  const text =
    yaml === undefined ? spliceFrontMatter(source, changes) : joinFrontMatter({ ...source, yaml });
  return text.slice(0, text.length - source.body.length) + body;
};

/** The bytes of a regular file, never through a link. Undefined when there is none. */
export const readRegularFile = (root: string, path: string): Buffer | undefined => {
  const descriptor = openUnlinked(root, path);
  if (descriptor === undefined) return undefined;
  try {
    if (!isOpenAt(descriptor, path)) assertNoLinks(root, dirname(path));
    if (!fstatSync(descriptor).isFile()) throw notRegular(relative(root, path));
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

// A pipe that was put here must not be waited for.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const openUnlinked = (root: string, path: string): number | undefined => {
  try {
    return openSync(path, FLAGS);
  } catch (error) {
    assertNoLinks(root, dirname(path));
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    // A link, a socket.
    if (hasCode(error, 'ELOOP', 'ENXIO', 'EOPNOTSUPP')) throw notRegular(relative(root, path));
    throw error;
  }
};

/** A record as it is on disk this moment, with the hash of its file. */
export interface ReadRecord<M> {
  matter: M;
  source: FrontMatter;
  sha: string;
}

/** Reads and checks a record; undefined when there is no such file. Throws `unreadable_record` with line and column. */
export const readRecord = <M>(
  root: string,
  path: string,
  check: (data: unknown, source: FrontMatter) => M,
): ReadRecord<M> | undefined => {
  const bytes = readRegularFile(root, path);
  if (bytes === undefined) return undefined;
  const source = readable(root, path, bytes);
  const matter = explained(relative(root, path), () => check(source.data, source));
  return { matter, source, sha: sha256(bytes) };
};

/** Parses a record or says which file, line and column keeps it from being one. */
export const readable = (root: string, path: string, bytes: Buffer): FrontMatter =>
  explained(relative(root, path), () => parseFrontMatter(decodeRecord(bytes)));

/** Where a key stands in a record now; undefined when the record cannot be read. */
export const placeIn = (root: string, path: string, key: string): TextPosition | undefined =>
  ifReadable(() => {
    const bytes = readRegularFile(root, path);
    return bytes && positionOf(parseFrontMatter(decodeRecord(bytes)), key);
  }, undefined);

/** Reads what may be a Problem; `file` is how the error names the file, relative to the workspace. */
export const explained = <T>(file: string, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Problem) throw unreadable(file, error);
    throw error;
  }
};

/** What is thrown for a file that cannot be read as a record; where the disk is why, and not the file, what that said. */
export const unreadable = (file: string, problem: Problem): Error => {
  const { code, message, place } = problem;
  const fault = faultOf(problem);
  if (fault !== undefined) return fault;
  const where = place === undefined ? file : `${file}:${place.line}:${place.column}`;
  return new StoreError(
    'unreadable_record',
    `${where}: ${message}. Mend the file in an editor, then try again; it was not touched.`,
    {
      problem: { file, code, message, ...place },
    },
  );
};
