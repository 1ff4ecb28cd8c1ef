import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { listDirectory } from '../front-matter/folder.ts';
import { hasCode } from '../fs/durable.ts';
import { statsAt } from '../fs/plain-path.ts';
import { syncDirectory } from '../fs/synced.ts';
import { lineIn } from './journal-lines.ts';

/**
 * One file of the journal. The newest are kept open: when somebody removes them, what is in them can still be read. All
 * others are opened for each piece that is read.
 */
export interface Segment {
  readonly path: string;
  handle: FileHandle | undefined;
  /** Where its last line ends; 0 once it was removed. */
  end: number;
  /** How much of its beginning is the state, as far as that is known: there are no events in it. */
  head: number;
  /** About how much of it the state is, where that is all that is known. */
  state?: number;
  /** The number of the newest event before it. */
  after: number;
  /** Up to where an append that failed may have left lines. */
  spoiled?: number;
  /** Where the events after some numbers begin, as far as it was read: ordered, one for each piece. */
  readonly places: { seq: number; at: number }[];
  /** That a part of it is damaged was told. */
  told?: boolean;
}

/** The one that is appended to. */
export type OpenSegment = Segment & { handle: FileHandle };

const NAME = /^\d{8}\.ndjson$/;

export const isJournalName = (name: string): boolean => NAME.test(name);

const PIECE = 262_144;

interface Piece {
  lines: string[];
  /** How many bytes of it are damage. */
  lost: number;
  next: number;
}

/**
 * The sound lines from this place on, of a piece of the file with one line at least, and where the next piece begins. It is
 * read at once: a reader that waited for its turn behind all that is being synced would fall behind for that alone.
 */
export const readPiece = (segment: Segment, from: number, size = PIECE): Piece => {
  const length = Math.max(0, Math.min(size, segment.end - from));
  const bytes = readAt(segment, from, length);
  // Somebody removed it: what was in it is lost.
  if (bytes === undefined) return { lines: [], lost: length, next: segment.end };
  const stop = bytes.lastIndexOf(10) + 1;
  if (stop > 0) return { ...linesIn(bytes.subarray(0, stop)), next: from + stop };
  if (bytes.length < size) return { lines: [], lost: 0, next: from + size };
  return readPiece(segment, from, 2 * size);
};

const readAt = ({ path, handle }: Segment, from: number, length: number): Buffer | undefined => {
  if (handle !== undefined) return readAll(handle.fd, Buffer.alloc(length), from);
  const descriptor = openOrNot(path);
  if (descriptor === undefined) return undefined;
  try {
    return readAll(descriptor, Buffer.alloc(length), from);
  } finally {
    closeSync(descriptor);
  }
};

const openOrNot = (path: string): number | undefined => {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};

const readAll = (descriptor: number, bytes: Buffer, position: number): Buffer => {
  let done = 0;
  while (done < bytes.length) {
    const read = readSync(descriptor, bytes, done, bytes.length - done, position + done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
};

const linesIn = (bytes: Buffer): Omit<Piece, 'next'> => {
  const found: Omit<Piece, 'next'> = { lines: [], lost: 0 };
  for (let from = 0; from < bytes.length; ) {
    const stop = bytes.indexOf(10, from);
    const { json, lost } = lineIn(bytes.subarray(from, stop));
    found.lost += lost;
    if (json !== undefined) found.lines.push(json);
    from = stop + 1;
  }
  return found;
};

/** False when somebody removed the file, or put another there, as far as that can be seen. */
export const isInPlace = ({ path, handle }: Segment): boolean => {
  const stats = statsAt(path);
  return stats !== undefined && (handle === undefined || stats.ino === fstatSync(handle.fd).ino);
};

/** Makes the file again, from what is open, if it is not in place. One that was not open is lost. */
export const restoreSegment = async (segment: Segment): Promise<void> => {
  const { handle: gone, path, end } = segment;
  if (gone === undefined || isInPlace(segment)) return;
  const { handle } = await writeFresh(path, (fresh) => copy(gone, fresh, end));
  segment.handle = handle;
  await gone.close();
};

const COPIED = 1_048_576;

const copy = async (from: FileHandle, to: FileHandle, end: number): Promise<number> => {
  for (let at = 0; at < end; at += COPIED) {
    const bytes = readAll(from.fd, Buffer.alloc(Math.min(COPIED, end - at)), at);
    await writeAll(to, bytes, at);
  }
  return end;
};

/** Lets go of the file; it is opened again where it is read. */
export const closeSegment = async (segment: Segment): Promise<void> => {
  const { handle } = segment;
  segment.handle = undefined;
  await handle?.close();
};

/** Removes the file. One that stays after all is found at the next start, and is of as little use then. */
export const removeSegment = (segment: Segment): void => {
  segment.end = 0;
  closeSegment(segment).catch(() => undefined);
  try {
    rmSync(segment.path, { force: true });
  } catch {}
};

/** A new file in this place, whole and durable, with what `fill` puts there: it answers how many bytes. */
export const writeFresh = async (
  path: string,
  fill: (handle: FileHandle) => Promise<number>,
): Promise<{ handle: FileHandle; end: number }> => {
  const temporary = `${path}.tmp`;
  const handle = await open(temporary, 'w+', 0o600);
  try {
    const end = await fill(handle);
    await handle.sync();
    await rename(temporary, path);
    await syncDirectory(dirname(path));
    return { handle, end };
  } catch (error) {
    await handle.close();
    // The newest file is the one that counts: one that is not used must not stay.
    for (const each of [temporary, path]) rmSync(each, { force: true });
    throw error;
  }
};

const MOST_AT_ONCE = 65_536;

/** The system may write less than it was given: where the disk is nearly full it does, and says so only at the next try. */
export const writeAll = async (
  handle: FileHandle,
  bytes: Buffer,
  position: number,
): Promise<void> => {
  for (let done = 0; done < bytes.length; ) {
    const rest = [done, bytes.length - done, position + done] as const;
    // A few lines do not wait for the disk before they are synced: the way to another thread and back costs more.
    const isShort = bytes.length <= MOST_AT_ONCE;
    done += isShort
      ? writeSync(handle.fd, bytes, ...rest)
      : (await handle.write(bytes, ...rest)).bytesWritten;
  }
};

/**
 * Whether nobody else wrote the journal since this process last did: the file that it appends to is the newest one, and ends
 * as it was left. One that was removed is as it was left, for it is made again.
 */
export const isAsLeft = (segment: OpenSegment): boolean => {
  const name = basename(segment.path);
  if (listDirectory(dirname(segment.path)).some((other) => isLater(other, name))) return false;
  if (statsAt(segment.path) === undefined) return true;
  return isInPlace(segment) && isEmptyFrom(segment);
};

const isLater = (other: string, name: string): boolean => isJournalName(other) && other > name;

const CHUNK = 65_536;

// What it is filled with ahead of time is zeros.
const isEmptyFrom = ({ handle: { fd }, end, spoiled = 0 }: OpenSegment): boolean => {
  const { size } = fstatSync(fd);
  const bytes = Buffer.alloc(CHUNK);
  for (let at = Math.max(end, spoiled); at < size; at += CHUNK)
    if (bytes.subarray(0, readSync(fd, bytes, 0, CHUNK, at)).some((byte) => byte !== 0))
      return false;
  return size >= end;
};
