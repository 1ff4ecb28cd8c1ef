import { readFileSync, type Stats } from 'node:fs';
import { sha256 } from '../base/sha256.ts';
import { statsAt } from '../fs/plain-path.ts';
import { asProblem, faultOf, Problem } from './problem.ts';
import { decodeRecord } from './text.ts';

/** One record file as it was last read: the newest value that could be read, and what is wrong with it now, if anything. */
export interface ReadEntry<T> {
  /** Tells whether the file is still the one that was read: inode, size, mtime, ctime. Empty: read it again. */
  signature: string;
  /** The hash of what `value` was read from. */
  sha: string;
  /** The file's mtime when it was read, in milliseconds since the epoch. */
  written_at: number;
  value: T | undefined;
  problem: Problem | undefined;
  /** The file was there and is not: editors that save by renaming leave such a gap. By the clock that nobody sets. */
  gone_at?: number;
  /** Since when the file cannot be read, if that may be a save that goes on. By the same clock. */
  doubted_at?: number;
}

export type ParseText<T> = (text: string, sha: string) => T;

/** How long a file or directory may be missing, or be half written, before that counts. */
export const GRACE_MS = 250;
// A timestamp this young may belong to a write that is still going on: look at the content again next time.
export const RACY_MS = 20;
const MAX_BYTES = 2_097_152;

/** How a file is read again. */
export interface ReadAgain<T> {
  before: ReadEntry<T> | undefined;
  parse: ParseText<T>;
  /** Somebody will look again soon: a file that cannot be parsed is not believed at first sight. */
  patient?: boolean;
}

/** Reads a record file if it changed since `before`; undefined when there is none. A bad file keeps the last good value. */
export const readEntry = <T>(path: string, reading: ReadAgain<T>): ReadEntry<T> | undefined => {
  const { before } = reading;
  try {
    const stats = statsAt(path);
    if (stats === undefined) return undefined;
    if (before !== undefined && before.gone_at === undefined && isSame(before, stats))
      return before;
    return read(path, stats, reading);
  } catch (error) {
    return unreachable(before, asProblem(error));
  }
};

/** The value is that of the file as it was last seen. */
export const isSound = ({ problem, doubted_at }: ReadEntry<unknown>): boolean =>
  problem === undefined && doubted_at === undefined;

/** Throws what kept a file from being read again that was just written: its value is still the one before. */
export const assertReadBack = (entry: ReadEntry<unknown> | undefined): void => {
  const fault = faultOf(entry?.problem);
  if (fault !== undefined) throw fault;
};

/** Somebody has to look again, once the grace period is over. */
export const isNewDoubt = (
  now: ReadEntry<unknown> | undefined,
  before: ReadEntry<unknown> | undefined,
): boolean => now?.doubted_at !== undefined && now !== before;

/** Whether what was missed, or doubted, then may still come back. */
export const isInGrace = (since: number): boolean => performance.now() - since < GRACE_MS;

/** Whether a file is still the one that was read. */
export const isSame = ({ signature }: ReadEntry<unknown>, now: Stats): boolean =>
  signature !== '' && signature === signatureOf(now);

/** Whether two looks at a file found the same in it, written at the same moment: one too young to be trusted is read again. */
export const saysSame = <T>(a: ReadEntry<T>, b: ReadEntry<T>): boolean =>
  a.sha === b.sha &&
  a.value === b.value &&
  a.problem === b.problem &&
  a.written_at === b.written_at &&
  a.gone_at === b.gone_at &&
  a.doubted_at === b.doubted_at;

/** Whether two looks at a folder found the very same. */
export const sameEntries = <T>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>): boolean =>
  a === b || (a.size === b.size && [...a].every(([name, entry]) => b.get(name) === entry));

// One from the future is not: the clock was set back, and another write gets another time.
const isYoung = ({ mtimeMs }: Stats): boolean => Math.abs(Date.now() - mtimeMs) < RACY_MS;

export const signatureOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string =>
  `${ino} ${size} ${mtimeMs} ${ctimeMs}`;

/**
 * The entry of a file that this process has just made. Somebody may have saved it already, in the same size and at the
 * same time: it is looked at once more before its signature is trusted.
 */
export const entryOfNew = <T>(path: string, text: string, value: T): ReadEntry<T> | undefined => {
  const stats = statsAt(path);
  if (stats === undefined) return undefined;
  return entryOf({ signature: '', written_at: stats.mtimeMs }, sha256(text), value);
};

type Look = Pick<ReadEntry<unknown>, 'signature' | 'written_at'>;

// Tens of thousands of entries are kept: made in one place and without spreading, all have one layout in memory.
const entryOf = <T>(
  { signature, written_at }: Look,
  sha: string,
  value: T | undefined,
  problem?: Problem,
): ReadEntry<T> => ({ signature, sha, written_at, value, problem });

const read = <T>(path: string, stats: Stats, reading: ReadAgain<T>): ReadEntry<T> => {
  const { before } = reading;
  const look = { signature: isYoung(stats) ? '' : signatureOf(stats), written_at: stats.mtimeMs };
  try {
    const bytes = readRegular(path, stats);
    const sha = sha256(bytes);
    if (before?.sha === sha && before.problem === undefined)
      return entryOf(look, sha, before.value);
    return parsed(bytes, { look, sha }, reading);
  } catch (error) {
    const problem = asProblem(error);
    // A disk that failed, too many open files: nothing in the file says that this has passed.
    return problem === error ? withProblem(before, problem, look) : unreachable(before, problem);
  }
};

const readRegular = (path: string, stats: Stats): Buffer => {
  refuseOther(stats);
  if (stats.size > MAX_BYTES)
    throw new Problem(
      'too_large',
      `The file has ${stats.size} bytes; a record has at most 1 MB. Shorten it`,
    );
  return readFileSync(path);
};

/** Throws the Problem of what stands where a regular file should. Opening a pipe would wait for ever. */
export const refuseOther = (stats: Stats): void => {
  if (stats.isSymbolicLink())
    throw new Problem('symbolic_link', 'Symbolic links are not followed. Put the file itself here');
  if (stats.isFile()) return;
  const what = stats.isDirectory() ? 'directory' : 'pipe, socket or device';
  throw new Problem('not_a_file', `There is a ${what} where a file should be. Remove it`);
};

const parsed = <T>(
  bytes: Buffer,
  { look, sha }: { look: Look; sha: string },
  { before, parse, patient = false }: ReadAgain<T>,
): ReadEntry<T> => {
  try {
    return entryOf(look, sha, parse(decodeRecord(bytes), sha));
  } catch (error) {
    const problem = asProblem(error);
    const doubt = patient && problem.code !== 'wrong_id' ? inDoubt(before, look) : undefined;
    return doubt ?? withProblem(before, problem, look);
  }
};

/**
 * A file that cannot be read, or is gone, for the grace period: an editor may be about to write the rest of it. Undefined
 * once that is over, and for one that was a problem before.
 */
export const inDoubt = <T>(
  before: ReadEntry<T> | undefined,
  { written_at }: Pick<Look, 'written_at'> = { written_at: 0 },
): ReadEntry<T> | undefined => {
  if (before?.problem !== undefined) return undefined;
  const { doubted_at = performance.now() } = before ?? {};
  if (!isInGrace(doubted_at)) return undefined;
  if (before?.doubted_at !== undefined) return before;
  const { sha = '', value } = before ?? {};
  const known = { sha, value, written_at: before?.written_at ?? written_at };
  return { ...known, signature: '', problem: undefined, doubted_at };
};

/** The last good value, with what is wrong now. */
export const withProblem = <T>(
  before: ReadEntry<T> | undefined,
  problem: Problem,
  look: Look = { signature: '', written_at: before?.written_at ?? 0 },
): ReadEntry<T> => entryOf(look, before?.sha ?? '', before?.value, problem);

// Nothing tells whether it is still the same: it is looked at each time, and is another only when the fault is.
const unreachable = <T>(before: ReadEntry<T> | undefined, problem: Problem): ReadEntry<T> =>
  before?.signature === '' && before.problem?.code === problem.code
    ? before
    : withProblem(before, problem);
