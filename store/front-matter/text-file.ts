import { join } from 'node:path';
import { changedSince } from '../base/errors.ts';
import { etagOf, isMarkdownName } from '../base/names.ts';
import { sha256 } from '../base/sha256.ts';
import { type Creation, createFile, replaceFile } from '../fs/durable.ts';
import { statsAt } from '../fs/plain-path.ts';
import { untilDone } from '../fs/retry.ts';
import type { Layout } from '../layout.ts';
import { listDirectory } from './folder.ts';
import { readRegularFile } from './record-file.ts';

/** A Markdown text that is not a record: a memory file, a plan. */
export interface TextFile {
  filename: string;
  content: string;
  /** Of the file, in bytes. */
  size: number;
  sha256: string;
}

/** Undefined when there is none. Bytes that are not UTF-8 come out as replacement characters: reading never fails on them. */
export const readText = (layout: Layout, dir: string, filename: string): TextFile | undefined => {
  const bytes = readRegularFile(layout.root, join(dir, filename));
  return bytes && textOf(filename, bytes);
};

export const textOf = (filename: string, bytes: Buffer): TextFile => ({
  ...{ filename, content: bytes.toString('utf8') },
  ...{ size: bytes.length, sha256: sha256(bytes) },
});

/** The Markdown files of a folder, by name. Directories and links are none. */
export const listTexts = (layout: Layout, dir: string): TextFile[] =>
  textNames(dir).flatMap((filename) => readText(layout, dir, filename) ?? []);

export const textNames = (dir: string): string[] =>
  listDirectory(dir)
    .filter((name) => isMarkdownName(name) && isFile(join(dir, name)))
    .toSorted();

const isFile = (path: string): boolean => statsAt(path)?.isFile() === true;

/**
 * Writes a whole text, atomically; the one it replaces is kept in `.dossier/undo`. With `ifMatch`, only when the file is
 * still the one that was read. Answers whether it was made anew.
 */
export const writeText = (
  layout: Layout,
  path: TextPath,
  content: string,
  ifMatch?: string,
): Promise<WrittenText> => editText(layout, path, () => content, ifMatch);

export interface TextPath {
  dir: string;
  filename: string;
  /** Throws where `dir` is not the one that is meant; what was made in it then is taken back. */
  assertMeant?: (() => void) | undefined;
}

export interface WrittenText {
  created: boolean;
  content: Buffer | string;
}

/** A rule: from the bytes of the file, undefined when there is none, to what it is to hold. It may throw to refuse. */
export type TextRule = (before: Buffer | undefined) => Buffer | string;

/** The same for a text that depends on the one before: when somebody saves the file meanwhile, the rule runs again. */
export const editText = (
  layout: Layout,
  { dir, filename, assertMeant }: TextPath,
  rule: TextRule,
  ifMatch?: string,
): Promise<WrittenText> => {
  const target = join(dir, filename);
  return untilDone(filename, async () => {
    const before = readRegularFile(layout.root, target);
    checkMatch(before, ifMatch);
    const content = rule(before);
    const written = await putFile(layout, target, { before, assertMeant }, content);
    return written && { created: before === undefined, content };
  });
};

/**
 * Writes a file over the one that was read `before`, or where there was none; false when it is another by now. The mode is
 * that of a new one.
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

const checkMatch = (before: Buffer | undefined, ifMatch: string | undefined): void => {
  if (ifMatch === undefined) return;
  if (before !== undefined && etagOf(sha256(before)) === ifMatch) return;
  throw changedSince('The file');
};
