import { readdirSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './durable.ts';
import { isRecordName, sha256 } from './names.ts';
import { isDirectory, statsAt } from './plain-path.ts';
import { Problem } from './problem.ts';
import { decodeText } from './text.ts';

/** One record file as it was last read: the newest value that could be read, and what is wrong with it now, if anything. */
export interface Entry<T> {
  /** Tells whether the file is still the one that was read: inode, size, mtime, ctime. Empty: read it again. */
  signature: string;
  /** The hash of what `value` was read from. */
  sha: string;
  /** The file's mtime when it was read, in milliseconds since the epoch. */
  written_at: number;
  value: T | undefined;
  problem: Problem | undefined;
  /** The file was there and is not: editors that save by renaming leave such a gap. Milliseconds since the epoch. */
  gone_at?: number;
}

export type Parse<T> = (text: string, sha: string) => T;

/** How long a file or directory may be missing before that counts as a deletion. */
export const GRACE_MS = 250;
// A timestamp this young may belong to a write that is still going on: look at the content again next time.
export const RACY_MS = 20;
const MAX_BYTES = 2_097_152;

/** Reads a record file if it changed since `before`; undefined when there is none. A bad file keeps the last good value. */
export const readEntry = <T>(
  path: string,
  before: Entry<T> | undefined,
  parse: Parse<T>,
): Entry<T> | undefined => {
  const stats = statsAt(path);
  if (stats === undefined) return undefined;
  if (before !== undefined && before.gone_at === undefined && isSame(before, stats)) return before;
  const look = { signature: isYoung(stats) ? '' : signatureOf(stats), written_at: stats.mtimeMs };
  try {
    return parsed(readRegular(path, stats), look, before, parse);
  } catch (error) {
    return { ...look, sha: before?.sha ?? '', value: before?.value, problem: asProblem(error) };
  }
};

/** Whether a file is still the one that was read. */
export const isSame = ({ signature }: Entry<unknown>, now: Stats): boolean =>
  signature !== '' && signature === signatureOf(now);

const isYoung = ({ mtimeMs }: Stats): boolean => Date.now() - mtimeMs < RACY_MS;

export const signatureOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string =>
  `${ino} ${size} ${mtimeMs} ${ctimeMs}`;

/** The entry of a file that this process has just made: nobody else can have written it before this. */
export const entryOfNew = <T>(path: string, text: string, value: T): Entry<T> | undefined => {
  const stats = statsAt(path);
  if (stats === undefined || stats.size !== Buffer.byteLength(text)) return undefined;
  const look = { signature: signatureOf(stats), written_at: stats.mtimeMs };
  return { ...look, sha: sha256(text), value, problem: undefined };
};

const readRegular = (path: string, stats: Stats): Buffer => {
  if (stats.isSymbolicLink())
    throw new Problem('symbolic_link', 'Symbolic links are not followed; put the file itself here');
  if (!stats.isFile()) throw new Problem('not_a_file', 'There should be a regular file here');
  if (stats.size > MAX_BYTES)
    throw new Problem('too_large', `The file has ${stats.size} bytes; a record has at most 1 MB`);
  return readFileSync(path);
};

type Look = Pick<Entry<unknown>, 'signature' | 'written_at'>;

const parsed = <T>(
  bytes: Buffer,
  look: Look,
  before: Entry<T> | undefined,
  parse: Parse<T>,
): Entry<T> => {
  const sha = sha256(bytes);
  if (before?.sha === sha && before.problem === undefined)
    return { ...look, sha, value: before.value, problem: undefined };
  try {
    return { ...look, sha, value: parse(decodeText(bytes), sha), problem: undefined };
  } catch (error) {
    return { ...look, sha: before?.sha ?? '', value: before?.value, problem: asProblem(error) };
  }
};

/** What kept a file from being read, as it is told. */
export const asProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  if (hasCode(error, 'EACCES', 'EPERM'))
    return new Problem('no_permission', 'The daemon may not read this file');
  return new Problem('unreadable', error instanceof Error ? error.message : String(error));
};

/** Reads the record files of a folder. One that has just vanished stays for the grace period, marked. */
export const readFolder = <T>(
  dir: string,
  before: ReadonlyMap<string, Entry<T>>,
  parse: Parse<T>,
  isWanted: (name: string) => boolean = () => true,
): Map<string, Entry<T>> => {
  const entries = new Map<string, Entry<T>>();
  for (const name of namesIn(dir).filter(isWanted)) {
    const entry = readEntry(join(dir, name), before.get(name), parse);
    if (entry !== undefined) entries.set(name, entry);
  }
  for (const [name, entry] of before) {
    const gone_at = entry.gone_at ?? Date.now();
    if (!entries.has(name) && Date.now() - gone_at < GRACE_MS)
      entries.set(name, { ...entry, gone_at });
  }
  return entries;
};

/** The record files of a folder, by name; none when there is no folder. */
export const namesIn = (dir: string): string[] =>
  listDirectory(dir).filter(isRecordName).toSorted();

export const listDirectory = (dir: string): string[] => {
  // Most folders of most Work items are not there: an error for each would be the costly way to learn it.
  // A link is no folder of ours, wherever it leads.
  if (!isDirectory(dir)) return [];
  try {
    return readdirSync(dir);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return [];
    throw error;
  }
};
