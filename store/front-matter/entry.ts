import { readFileSync, type Stats } from 'node:fs';
import { isInGrace } from '../base/grace.ts';
import { modifiedAt } from '../base/modified-at.ts';
import { sha256 } from '../base/sha256.ts';
import { statsAt } from '../fs/plain-path.ts';
import { faultOf, Problem, toProblem } from './problem.ts';
import { decodeRecord } from './text.ts';

/** One record file as last read: its newest valid value, and its current problem, if any. */
export interface ReadEntry<T> {
  /** Inode, size, mtime and ctime, to detect a change. Empty: read the file again. */
  signature: string;
  /** The hash of the file that `value` was read from. */
  sha: string;
  /** The file's mtime when it was read, in milliseconds since the epoch. */
  written_at: number;
  value: T | undefined;
  problem: Problem | undefined;
  /** When the file vanished (monotonic clock): editors that save by renaming leave such a gap. */
  gone_at?: number;
  /** Since when the file is unreadable (monotonic clock), if that may be a save in progress. */
  doubted_at?: number;
}

export type ParseText<T> = (text: string, sha: string) => T;

// A write may still follow at the same timestamp, so files this young are read again next time.
export const RACY_MS = 20;
const MAX_BYTES = 2_097_152;

/** How to read a file again. */
export interface ReadAgain<T> {
  before?: ReadEntry<T> | undefined;
  parse: ParseText<T>;
  /** The caller reads again soon, so an unparsable file gets the grace period. */
  patient?: boolean;
}

/** Reads a record file if it changed since `before`; undefined if there is none. A bad file keeps the last valid value. */
export const readEntry = <T>(path: string, reading: ReadAgain<T>): ReadEntry<T> | undefined => {
  const { before } = reading;
  try {
    const stats = statsAt(path);
    if (stats === undefined) return undefined;
    if (before !== undefined && before.gone_at === undefined && isSame(before, stats))
      return before;
    return read(path, stats, reading);
  } catch (error) {
    return unreachable(before, toProblem(error));
  }
};

/** Whether the value is that of the file on disk. */
export const isSound = ({ problem, doubted_at }: ReadEntry<unknown>): boolean =>
  problem === undefined && doubted_at === undefined;

/** Throws if a file that was just written could not be read back, because its entry still has the old value. */
export const assertReadBack = (entry: ReadEntry<unknown> | undefined): void => {
  const fault = faultOf(entry?.problem);
  if (fault !== undefined) throw fault;
};

/** Whether the file must be read again after the grace period. */
export const isNewDoubt = (
  now: ReadEntry<unknown> | undefined,
  before: ReadEntry<unknown> | undefined,
): boolean => now?.doubted_at !== undefined && now !== before;

/** Whether a file is unchanged since it was read. */
export const isSame = ({ signature }: ReadEntry<unknown>, now: Stats): boolean =>
  signature !== '' && signature === signatureOf(now);

/** Whether two reads of a file found the same content with the same mtime. */
export const isSameContent = <T>(a: ReadEntry<T>, b: ReadEntry<T>): boolean =>
  a.sha === b.sha &&
  a.value === b.value &&
  a.problem === b.problem &&
  a.written_at === b.written_at &&
  a.gone_at === b.gone_at &&
  a.doubted_at === b.doubted_at;

/** Whether two reads of a folder found the same entries. */
export const sameEntries = <T>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>): boolean =>
  a === b || (a.size === b.size && [...a].every(([name, entry]) => b.get(name) === entry));

/** The signature of a file, empty if it is so young that it has to be read again. */
// A time in the future is not young: the clock was set back, and another write gets another time.
export const settledSignature = (stats: Stats): string =>
  Math.abs(Date.now() - stats.mtimeMs) < racyMs(stats) ? '' : signatureOf(stats);

// FAT and exFAT keep times of two seconds.
const racyMs = ({ mtimeMs }: Stats): number => (mtimeMs % 1000 === 0 ? 2000 : 0) + RACY_MS;

export const signatureOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string =>
  `${ino} ${size} ${mtimeMs} ${ctimeMs}`;

/**
 * The entry of a file that this process has just created, without a signature: another program may already have saved it
 * with the same size and time, so it is read once more.
 */
export const entryOfCreated = <T>(
  path: string,
  text: string,
  value: T,
): ReadEntry<T> | undefined => {
  const stats = statsAt(path);
  if (stats === undefined) return undefined;
  return entryOf({ signature: '', written_at: modifiedAt(stats) }, sha256(text), value);
};

type Look = Pick<ReadEntry<unknown>, 'signature' | 'written_at'>;

// Tens of thousands of entries are kept. Without spreads, all have one hidden class in V8.
const entryOf = <T>(
  { signature, written_at }: Look,
  sha: string,
  value: T | undefined,
  problem?: Problem,
): ReadEntry<T> => ({ signature, sha, written_at, value, problem });

const read = <T>(path: string, stats: Stats, reading: ReadAgain<T>): ReadEntry<T> => {
  const { before } = reading;
  const look = { signature: settledSignature(stats), written_at: modifiedAt(stats) };
  try {
    const bytes = readRegular(path, stats);
    const sha = sha256(bytes);
    if (before?.sha === sha && before.problem === undefined)
      return entryOf(look, sha, before.value);
    return parsed(bytes, { look, sha }, reading);
  } catch (error) {
    const problem = toProblem(error);
    // A disk fault leaves no trace in the file when it has passed, so the file is read each time.
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

/** Throws a Problem unless this is a regular file. Opening a pipe would block. */
export const refuseOther = (stats: Stats): void => {
  if (stats.isSymbolicLink())
    throw new Problem('symbolic_link', 'Symbolic links are not followed. Put the file itself here');
  if (stats.isFile()) return;
  const what = stats.isDirectory() ? 'directory' : 'pipe, socket or device';
  throw new Problem('not_a_file', `This is a ${what}, not a file. Remove it`);
};

const parsed = <T>(
  bytes: Buffer,
  { look, sha }: { look: Look; sha: string },
  { before, parse, patient = false }: ReadAgain<T>,
): ReadEntry<T> => {
  try {
    return entryOf(look, sha, parse(decodeRecord(bytes), sha));
  } catch (error) {
    const problem = toProblem(error);
    const doubt = patient && problem.code !== 'wrong_id' ? inDoubt(before, look) : undefined;
    return doubt ?? withProblem(before, problem, look);
  }
};

/**
 * The entry of an unreadable or missing file during the grace period, in which an editor may complete it. Undefined after
 * that, and for a file that already had a problem.
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

/** The last valid value, with the current problem. */
export const withProblem = <T>(
  before: ReadEntry<T> | undefined,
  problem: Problem,
  look: Look = { signature: '', written_at: before?.written_at ?? 0 },
): ReadEntry<T> => entryOf(look, before?.sha ?? '', before?.value, problem);

// Without a signature the file is read each time; the entry changes only if the fault does.
const unreachable = <T>(before: ReadEntry<T> | undefined, problem: Problem): ReadEntry<T> =>
  before?.signature === '' && before.problem?.code === problem.code
    ? before
    : withProblem(before, problem);
