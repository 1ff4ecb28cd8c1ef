import { constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { hasCode } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { whileOpen } from '../base/open-file.ts';
import { sha256 } from '../base/sha256.ts';
import { replaceFile } from '../fs/durable.ts';
import { assertNoLinks, isOpenAt, notRegular } from '../fs/plain-path.ts';
import { untilWritten } from '../fs/retry.ts';
import type { Layout } from '../layout.ts';
import { type FrontMatter, joinFrontMatter, parseFrontMatter } from './front-matter.ts';
import { positionOf, validatorOf } from './parse.ts';
import { faultOf, ifReadable, Problem, type TextPosition } from './problem.ts';
import { type MatterChanges, spliceFrontMatter } from './splice.ts';
import { decodeRecord, storable } from './text.ts';

/** A change of a record: front-matter values, the body, or both. */
export interface RecordEdit {
  changes?: MatterChanges;
  /** The whole new front matter, already checked by the caller, such as `appendToList`. */
  yaml?: string;
  /** The whole new body, with the line ends of the file. It is made storable. */
  body?: string;
}

export interface Current {
  sha: string;
  /** Parsed when first used; throws `unreadable_record`. */
  readonly source: FrontMatter;
}

export type RecordRule = (current: Current) => RecordEdit | undefined;

/**
 * Runs a rule on the record on disk and writes the result atomically. If the file is saved in between, the rule runs again
 * on the new version, so that neither change is lost. False if there is no file. Throws `unreadable_record` with line and
 * column, or `file_busy` if the file keeps changing.
 */
export const editRecord = async (
  layout: Layout,
  path: string,
  rule: RecordRule,
): Promise<boolean> => {
  const attempt = () => editOnce(layout, path, rule);
  return (await untilWritten(relative(layout.root, path), attempt)) === 'there';
};

/** One attempt of `editRecord`, for callers that repeat more than this; false if the file was saved in between. */
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

/** Like `editOnce`, only if the file still has that hash; false otherwise, also if it is gone. */
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

const editedText = (source: FrontMatter, { changes = {}, yaml, body }: RecordEdit): string => {
  const text =
    yaml === undefined ? spliceFrontMatter(source, changes) : joinFrontMatter({ ...source, yaml });
  if (body === undefined) return text;
  return text.slice(0, text.length - source.body.length) + storable(body);
};

/** Reads a regular file without following links; undefined if there is none. */
export const readRegularFile = (root: string, path: string): Buffer | undefined => {
  const opened = openUnlinked(root, path);
  if (opened === undefined) return undefined;
  return whileOpen(opened, (descriptor) => {
    if (!isOpenAt(descriptor, path)) assertNoLinks(root, dirname(path));
    if (!fstatSync(descriptor).isFile()) throw notRegular(relative(root, path));
    return readOpen(descriptor, path);
  });
};

const readOpen = (descriptor: number, path: string): Buffer => {
  try {
    return readFileSync(descriptor);
  } catch (error) {
    // An error of reading an open file does not name it.
    throw Object.assign(error as Error, { path });
  }
};

// Opening a pipe must not block.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const openUnlinked = (root: string, path: string): number | undefined => {
  try {
    return openSync(path, FLAGS);
  } catch (error) {
    assertNoLinks(root, dirname(path));
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    // A link or a socket.
    if (hasCode(error, 'ELOOP', 'ENXIO', 'EOPNOTSUPP')) throw notRegular(relative(root, path));
    throw error;
  }
};

/** A record on disk, with the hash of its file. */
export interface ReadRecord<M> {
  matter: M;
  source: FrontMatter;
  sha: string;
}

/** Reads and checks a record; undefined if there is no file. Throws `unreadable_record` with line and column. */
export const readRecord = <M>(
  root: string,
  path: string,
  check: (data: unknown, source: FrontMatter) => M,
): ReadRecord<M> | undefined => {
  const bytes = readRegularFile(root, path);
  if (bytes === undefined) return undefined;
  const source = readable(root, path, bytes);
  const matter = withReadableErrors(relative(root, path), () => check(source.data, source));
  return { matter, source, sha: sha256(bytes) };
};

/** Parses a record; throws `unreadable_record` with file, line and column. */
export const readable = (root: string, path: string, bytes: Buffer): FrontMatter =>
  withReadableErrors(relative(root, path), () => parseFrontMatter(decodeRecord(bytes)));

/** The position of the id in a record; undefined if the record cannot be read. */
export const placeOfId = (root: string, path: string): TextPosition | undefined =>
  ifReadable(() => {
    const bytes = readRegularFile(root, path);
    return bytes && positionOf(parseFrontMatter(decodeRecord(bytes)), 'id');
  }, undefined);

/** Runs `read` and turns a Problem into `unreadable_record`; `file` is relative to the workspace. */
export const withReadableErrors = <T>(file: string, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Problem) throw unreadable(file, error);
    throw error;
  }
};

/** The error for an unreadable record, or the disk fault that caused it. */
export const unreadable = (file: string, problem: Problem): Error => {
  const { code, message, place } = problem;
  const fault = faultOf(problem);
  if (fault !== undefined) return fault;
  const where = place === undefined ? file : `${file}:${place.line}:${place.column}`;
  const advice = code === 'made_elsewhere' ? '' : ' Fix it in an editor, then try again.';
  return new StoreError(
    'unreadable_record',
    `${where}: ${message}. The file was not changed.${advice}`,
    { problem: { file, code, message, ...place } },
  );
};

/**
 * Reads a JSON record of this machine; undefined if there is none. Agents may be able to write the file, so it is checked
 * on every read: throws `unreadable_record`.
 */
export const readJson = <T>(
  layout: Layout,
  path: string,
  check: (value: unknown) => T,
): T | undefined => {
  const bytes = readRegularFile(layout.root, path);
  if (bytes === undefined) return undefined;
  try {
    return check(JSON.parse(bytes.toString('utf8')));
  } catch (error) {
    const problem =
      error instanceof Problem ? error : new Problem('not_json', 'The file is not valid JSON');
    throw unreadable(relative(layout.root, path), problem);
  }
};

/** Returns the value if it matches the schema; throws a Problem that names the path otherwise. */
export const checkedBy = <S extends TSchema>(schema: S, value: unknown): Static<S> => {
  const validator = validatorOf(schema);
  if (validator.Check(value)) return value as Static<S>;
  const [error] = validator.Errors(value);
  throw new Problem('not_a_record', `${error?.instancePath || '/'} ${error?.message ?? ''}`);
};
