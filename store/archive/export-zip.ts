import { once } from 'node:events';
import { Readable } from 'node:stream';
import { constants } from 'node:zlib';
import { ZipArchive } from 'archiver';
import type { Outbox } from './export-outbox.ts';

export interface ZipEntry {
  /** As it is to stand in the archive: see whyUnfit. */
  path: string;
  mode: number;
  /** Kept in UTC, as the format has no zone, and to two seconds. */
  date: Date;
}

/**
 * Writes a zip file entry by entry. What is in memory is stored, as compressing many small texts costs four times as
 * much as all the rest. What comes in pieces is long and compressed, though never more than eightfold: readers take what
 * is much denser for a trap.
 */
export const createZip = (outbox: Outbox) => {
  const archive = new ZipArchive({ store: true, zlib: { strategy: constants.Z_HUFFMAN_ONLY } });
  archive.on('data', (bytes) => outbox.write(bytes));
  const append = async (
    { path, mode, date }: ZipEntry,
    content: Buffer | Readable,
  ): Promise<void> => {
    const added = once(archive, 'entry');
    archive.append(content, { name: path, mode, date, store: Buffer.isBuffer(content) });
    await added;
  };
  return {
    /** Adds a file, whole in memory or piece by piece; resolves when it is in, and there is room for the next. */
    add: async (entry: ZipEntry, content: Buffer | Iterable<Buffer>): Promise<void> => {
      await outbox.room();
      await append(entry, Buffer.isBuffer(content) ? content : asStream(content, outbox));
    },
    /** Writes the directory of the archive. Nothing can be added any more. */
    finish: async (): Promise<void> => {
      await Promise.all([once(archive, 'end'), archive.finalize()]);
    },
  };
};

const asStream = (pieces: Iterable<Buffer>, outbox: Outbox): Readable =>
  Readable.from(
    (async function* () {
      for (const piece of pieces) {
        await outbox.room();
        yield piece;
      }
    })(),
    { objectMode: false },
  );
