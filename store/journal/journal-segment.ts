import { fstatSync, rmSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '../disk/durable.ts';
import { statsAt } from '../disk/plain-path.ts';
import { lineIn } from './journal-lines.ts';

/** One file of the journal. It is kept open: when somebody removes it, what is in it can still be read. */
export interface Segment {
  readonly path: string;
  handle: FileHandle;
  /** Where its last line ends; 0 once it was removed. */
  end: number;
  /** The number of the newest event before it. */
  after: number;
  /** Up to where an append that failed may have left lines. */
  spoiled?: number;
  /** Where the events after some numbers begin, as far as it was read: ordered, one for each piece. */
  readonly places: { seq: number; at: number }[];
  /** That a part of it is damaged was told. */
  told?: boolean;
}

const PIECE = 65_536;

interface Piece {
  lines: string[];
  /** How many bytes of it are damage. */
  lost: number;
  next: number;
}

/** The sound lines from this place on, of a piece of the file with one line at least, and where the next piece begins. */
export const readPiece = async (segment: Segment, from: number, size = PIECE): Promise<Piece> => {
  const length = Math.max(0, Math.min(size, segment.end - from));
  const bytes = await readAll(segment.handle, Buffer.alloc(length), from);
  const stop = bytes.lastIndexOf(10) + 1;
  if (stop > 0) return { ...linesIn(bytes.subarray(0, stop)), next: from + stop };
  if (bytes.length < size) return { lines: [], lost: 0, next: from + size };
  return readPiece(segment, from, 2 * size);
};

const readAll = async (handle: FileHandle, bytes: Buffer, position: number): Promise<Buffer> => {
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
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

/** False when somebody removed the file, or put another there. */
export const isInPlace = ({ path, handle }: Segment): boolean =>
  statsAt(path)?.ino === fstatSync(handle.fd).ino;

/** Makes the file again, from what is open, if it is not in place. */
export const restoreSegment = async (segment: Segment): Promise<void> => {
  if (isInPlace(segment)) return;
  const { handle: gone, path, end } = segment;
  const { handle } = await writeFresh(path, (fresh) => copy(gone, fresh, end));
  segment.handle = handle;
  await gone.close();
};

const COPIED = 1_048_576;

const copy = async (from: FileHandle, to: FileHandle, end: number): Promise<number> => {
  for (let at = 0; at < end; at += COPIED) {
    const bytes = await readAll(from, Buffer.alloc(Math.min(COPIED, end - at)), at);
    await writeAll(to, bytes, at);
  }
  return end;
};

/** Removes the file. One that stays after all is found at the next start, and is of as little use then. */
export const removeSegment = (segment: Segment): void => {
  segment.end = 0;
  segment.handle.close().catch(() => undefined);
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

/** The system may write less than it was given: where the disk is nearly full it does, and says so only at the next try. */
export const writeAll = async (
  handle: FileHandle,
  bytes: Buffer,
  position: number,
): Promise<void> => {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
};
