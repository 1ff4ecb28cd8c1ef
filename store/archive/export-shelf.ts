import { createHash, randomUUID } from 'node:crypto';
import { ftruncateSync, openSync, readSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { sha256 } from '../base/sha256.ts';

/** A file as it was read, kept until it is written into the archive. */
export interface Shelved {
  size: number;
  sha256: string;
  /** In memory, or in the spill file at this offset. */
  content: Buffer | { from: number };
}

export const LARGE_BYTES = 1_048_576;
const IN_MEMORY_BYTES = 16 * LARGE_BYTES;
const PIECE_BYTES = 262_144;

/**
 * Buffers files: small ones in memory, large ones or what exceeds the limit in a spill file, which is created when it is
 * needed, so that small files can be exported from a full disk: in `dir`, or, where no file can be created there, as on a
 * read-only disk, in the system's directory for temporary files. It is unlinked at once, so that it disappears with the
 * process. `put` throws the error of a disk that becomes full as the spill file grows.
 */
export const createShelf = (dir: string) => {
  let spill: number | undefined;
  let inMemory = 0;
  let end = 0;
  const copy = (fd: number, size: number): Shelved | undefined => {
    const hash = createHash('sha256');
    const from = end;
    spill ??= openSpill(dir);
    for (const piece of piecesOf(fd, 0, size)) {
      hash.update(piece);
      writeFileSync(spill, piece);
      end += piece.length;
    }
    if (end - from < size) return undefined;
    return { size, sha256: hash.digest('hex'), content: { from } };
  };
  return {
    /** Reads the first `size` bytes of an open file; undefined if it has fewer. */
    put: (fd: number, size: number): Shelved | undefined => {
      if (size > LARGE_BYTES || inMemory + size > IN_MEMORY_BYTES) return copy(fd, size);
      const bytes = readAll(fd, size);
      inMemory += bytes.length;
      return bytes.length < size ? undefined : { size, sha256: sha256(bytes), content: bytes };
    },
    /** Whether the open file still starts with these bytes. */
    isStartOf: (fd: number, shelved: Shelved): boolean =>
      hashOf(piecesOf(fd, 0, shelved.size)) === shelved.sha256,
    contentOf: ({ content, size }: Shelved): Buffer | Iterable<Buffer> =>
      Buffer.isBuffer(content) ? content : piecesOf(spill as number, content.from, size),
    /** Drops all buffered files. */
    clear: (): void => {
      inMemory = 0;
      if (spill !== undefined && end > 0) ftruncateSync(spill);
      end = 0;
    },
  };
};
export type Shelf = ReturnType<typeof createShelf>;

const openSpill = (dir: string): number => {
  try {
    return openNameless(dir);
  } catch (error) {
    const fd = orElse(() => openNameless(tmpdir()), undefined);
    if (fd === undefined) throw error;
    return fd;
  }
};

const openNameless = (dir: string): number => {
  const path = join(dir, randomUUID());
  const fd = openSync(path, 'ax+', 0o600);
  unlinkSync(path);
  return fd;
};

const readAll = (fd: number, size: number): Buffer => {
  const bytes = Buffer.allocUnsafe(size);
  for (let at = 0; at < size; ) {
    const count = readSync(fd, bytes, at, size - at, at);
    if (count === 0) return bytes.subarray(0, at);
    at += count;
  }
  return bytes;
};

const piecesOf = function* (fd: number, from: number, size: number): Generator<Buffer> {
  for (let at = 0; at < size; ) {
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, size - at));
    const count = readSync(fd, piece, 0, piece.length, from + at);
    if (count === 0) return;
    yield piece.subarray(0, count);
    at += count;
  }
};

const hashOf = (pieces: Iterable<Buffer>): string => {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
};
