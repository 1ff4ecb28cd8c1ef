import { join } from 'node:path';
import { changedSince, StoreError } from '../base/errors.ts';
import { etagOf, isMarkdownName, meets } from '../base/names.ts';
import { sha256 } from '../base/sha256.ts';
import { type Creation, createFile, replaceFile } from '../fs/durable.ts';
import { statsAt } from '../fs/plain-path.ts';
import { untilWritten } from '../fs/retry.ts';
import type { Layout } from '../layout.ts';
import { listDirectory } from './folder.ts';
import { readRegularFile } from './record-file.ts';
import { conflictLine } from './text.ts';

/** A Markdown text that is not a record: a memory file, a plan. */
export interface TextFile {
  filename: string;
  content: string;
  /** In bytes. */
  size: number;
  sha256: string;
}

/** Reads a text; undefined if there is none. Invalid UTF-8 is read as replacement characters. */
export const readText = (layout: Layout, dir: string, filename: string): TextFile | undefined => {
  const bytes = readRegularFile(layout.root, join(dir, filename));
  return bytes && textOf(filename, bytes);
};

export const textOf = (filename: string, bytes: Buffer): TextFile => ({
  filename,
  content: bytes.toString('utf8'),
  size: bytes.length,
  sha256: sha256(bytes),
});

/** Throws `unreadable_record` where a text that is to be approved has an unresolved merge conflict: both sides would count. */
export const refuseConflict = ({ filename, content }: Pick<TextFile, 'filename' | 'content'>) => {
  const line = conflictLine(content);
  if (line === undefined) return;
  throw new StoreError(
    'unreadable_record',
    `${filename} has an unresolved merge conflict, which starts in line ${line}. Choose one side and remove the marker lines, then approve`,
  );
};

/** The Markdown files of a folder, by name, without directories and links. */
export const listTexts = (layout: Layout, dir: string): TextFile[] =>
  textNames(dir).flatMap((filename) => readText(layout, dir, filename) ?? []);

export const textNames = (dir: string): string[] =>
  listDirectory(dir)
    .filter((name) => isMarkdownName(name) && isFile(join(dir, name)))
    .toSorted();

const isFile = (path: string): boolean => statsAt(path)?.isFile() === true;

/**
 * Writes a whole text atomically, and keeps the replaced one in `.dossier/undo`. With `ifMatch`, throws
 * `precondition_failed` unless the file meets it.
 */
export const writeText = (
  layout: Layout,
  path: TextPath,
  content: string,
  ifMatch?: string,
): Promise<WrittenText> => editText(layout, path, () => content, ifMatch);

interface TextPath {
  dir: string;
  filename: string;
  /** Throws if `dir` is not the expected directory; a file created in it is then removed. */
  assertMeant?: (() => void) | undefined;
}

interface WrittenText {
  created: boolean;
  content: Buffer | string;
}

/** Computes the new content from the current bytes, which are undefined if there is no file. May throw to refuse. */
export type TextRule = (before: Buffer | undefined) => Buffer | string;

/** Like `writeText`, for content that depends on the current text. The rule runs again if the file is saved meanwhile. */
export const editText = (
  layout: Layout,
  { dir, filename, assertMeant }: TextPath,
  rule: TextRule,
  ifMatch?: string,
): Promise<WrittenText> => {
  const target = join(dir, filename);
  return untilWritten(filename, async () => {
    const before = readRegularFile(layout.root, target);
    checkMatch(before, ifMatch);
    const content = rule(before);
    const written = await putFile(layout, target, { before, assertMeant }, content);
    return written && { created: before === undefined, content };
  });
};

/**
 * Replaces the file that was read as `before`, or creates it; false if it changed since. `creation` applies to a new file.
 */
export const putFile = (
  layout: Layout,
  target: string,
  { before, ...creation }: Creation & { before: Buffer | undefined },
  bytes: Buffer | string,
): Promise<boolean> =>
  before === undefined
    ? createFile(layout, target, bytes, creation)
    : replaceFile(layout, target, before, bytes);

const absent = (): StoreError =>
  new StoreError(
    'precondition_failed',
    'There is no such file, which If-Match requires; nothing was written. To create it, write without If-Match.',
  );

const checkMatch = (before: Buffer | undefined, ifMatch: string | undefined): void => {
  if (ifMatch === undefined || (before && meets(ifMatch, etagOf(sha256(before))))) return;
  throw ifMatch === '*' ? absent() : changedSince('The file');
};
