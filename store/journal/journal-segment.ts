import { constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { whileOpen } from '../base/open-file.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { statsAt } from '../fs/plain-path.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import { syncDirectory } from '../fs/synced.ts';
import { lineIn } from './journal-lines.ts';

/**
 * One file of the journal. The newest files stay open, so that they can be read and restored after they are removed. The
 * others are opened for each read.
 */
export interface Segment {
  readonly path: string;
  handle: FileHandle | undefined;
  /** The offset after the last line; 0 once it was removed. */
  end: number;
  /** The size of the state at its start, as far as known: it contains no events. */
  head: number;
  /** The approximate size of the state, if only that is known. */
  state?: number;
  /** The number of the newest event before it. */
  after: number;
  /** The offset up to which a failed append may have left bytes. */
  spoiled?: number;
  /** Known offsets of events, one for each piece that was read, in order. */
  readonly places: { seq: number; at: number }[];
  /** Whether its damage was reported. */
  told?: boolean;
}

/** The segment that is appended to. */
export type OpenSegment = Segment & { handle: FileHandle };

const NAME = /^\d{8}\.ndjson$/;

export const isJournalName = (name: string): boolean => NAME.test(name);

const PIECE = 262_144;

interface Piece {
  lines: string[];
  /** The number of damaged bytes. */
  lost: number;
  next: number;
}

/**
 * Reads the valid lines of one piece, of at least one line, and the offset of the next. Synchronous, because behind the
 * syncs in the thread pool a reader would fall behind the writer.
 */
export const readPiece = (segment: Segment, from: number, size = PIECE): Piece => {
  const length = Math.max(0, Math.min(size, segment.end - from));
  const bytes = readAt(segment, from, length);
  // The file was removed.
  if (bytes === undefined) return { lines: [], lost: length, next: segment.end };
  const stop = bytes.lastIndexOf(10) + 1;
  if (stop > 0) return { ...linesIn(bytes.subarray(0, stop)), next: from + stop };
  if (bytes.length < size) return { lines: [], lost: 0, next: from + size };
  return readPiece(segment, from, 2 * size);
};

const readAt = ({ path, handle }: Segment, from: number, length: number): Buffer | undefined => {
  if (handle !== undefined) return readAll(handle.fd, Buffer.alloc(length), from);
  const opened = orElse(() => openSync(path, PLAINLY), undefined, 'ENOENT');
  if (opened === undefined) return undefined;
  return whileOpen(opened, (descriptor) => readAll(descriptor, Buffer.alloc(length), from));
};

const PLAINLY = constants.O_RDONLY | constants.O_NOFOLLOW;

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

/** Whether the file is still there and, if it is open, the same file. */
export const isInPlace = ({ path, handle }: Segment): boolean => {
  const stats = statsAt(path);
  return stats !== undefined && (handle === undefined || stats.ino === fstatSync(handle.fd).ino);
};

/** Writes a removed file again from its open descriptor. One that was not open is lost. */
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

/** Closes the file; reads open it again. */
export const closeSegment = async (segment: Segment): Promise<void> => {
  const { handle } = segment;
  segment.handle = undefined;
  await handle?.close();
};

/** Removes the file. If that fails, the next start finds and removes it. */
export const removeSegment = (segment: Segment): void => {
  segment.end = 0;
  closeSegment(segment).catch(() => undefined);
  try {
    unlinkIfThere(segment.path);
  } catch {}
};

/** Creates a file atomically and durably. `fill` writes the content and returns its size in bytes. */
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
    // The next start would read an unused file as the newest one.
    for (const each of [temporary, path]) unlinkIfThere(each);
    throw error;
  }
};

const MOST_AT_ONCE = 65_536;

/** Writes all bytes. One write may take only a part, as on a nearly full disk, which reports the error at the next one. */
export const writeAll = async (
  handle: FileHandle,
  bytes: Buffer,
  position: number,
): Promise<void> => {
  for (let done = 0; done < bytes.length; ) {
    const rest = [done, bytes.length - done, position + done] as const;
    // Short writes only fill the cache, and a thread switch costs more.
    const isShort = bytes.length <= MOST_AT_ONCE;
    done += isShort
      ? writeSync(handle.fd, bytes, ...rest)
      : (await handle.write(bytes, ...rest)).bytesWritten;
  }
};

/**
 * Whether no other process wrote the journal since this one did: the segment is the newest file and ends where this process
 * left it. True for a removed file, which is restored.
 */
export const isUnmodified = (segment: OpenSegment): boolean => {
  const name = basename(segment.path);
  if (listDirectory(dirname(segment.path)).some((other) => isLater(other, name))) return false;
  if (statsAt(segment.path) === undefined) return true;
  return isInPlace(segment) && isEmptyFrom(segment);
};

const isLater = (other: string, name: string): boolean => isJournalName(other) && other > name;

const ZEROS = Buffer.alloc(65_536);

// The space reserved after the end is zeros.
const isEmptyFrom = ({ handle: { fd }, end, spoiled = 0 }: OpenSegment): boolean => {
  const { size } = fstatSync(fd);
  const bytes = Buffer.alloc(ZEROS.length);
  for (let at = Math.max(end, spoiled); at < size; at += ZEROS.length) {
    const read = readSync(fd, bytes, 0, bytes.length, at);
    if (bytes.compare(ZEROS, 0, read, 0, read) !== 0) return false;
  }
  return size >= end;
};
