import type { Manifest, ManifestFile, SkippedFile } from '../records/manifest.ts';
import { fileCounts } from './archive-files.ts';
import type { Outbox } from './export-outbox.ts';
import { createShelf } from './export-shelf.ts';
import { readTree } from './export-tree.ts';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { constants } from 'node:zlib';
import { ZipArchive } from 'archiver';

/** What the exporting thread is given. */
export interface ExportTask {
  root: string;
  /** Where it may put what is too large for memory. */
  tmp: string;
  generated_at: string;
  /** Of the workspace only what is in this directory of it. */
  dir?: string;
}

// No value of the schema's module, which would be loaded with all of typebox.
const FORMAT: Manifest['format'] = 'dossier-export/1';

/** Writes the workspace, or a directory of it, as a zip archive; its manifest is the last entry, and says what the others are. */
export const writeExport = async (
  { root, tmp, generated_at, dir }: ExportTask,
  outbox: Outbox,
): Promise<void> => {
  const shelf = createShelf(tmp);
  const zip = createZip(outbox);
  const files: ManifestFile[] = [];
  const skipped: SkippedFile[] = [];
  for await (const unit of readTree(root, shelf, dir)) {
    for (const file of unit.files) {
      await zip.add(file, shelf.contentOf(file));
      files.push({ path: file.path, size: file.size, sha256: file.sha256 });
    }
    for (const one of unit.skipped) skipped.push(one);
  }
  // It was moved away: an archive of nothing must not pass for one of it.
  if (dir !== undefined && files.length === 0) throw new Error(`${dir} is not there any more`);
  const manifest: Manifest = {
    format: FORMAT,
    generated_at,
    counts: fileCounts(files.map(({ path }) => path)),
    files: files.sort(byPath),
    skipped: skipped.sort(byPath),
  };
  await zip.add(
    { path: 'manifest.json', mode: 0o644, date: new Date(generated_at) },
    textOf(manifest),
  );
  await zip.finish();
  await outbox.end();
};

const byPath = (a: { path: string }, b: { path: string }): number => (a.path < b.path ? -1 : 1);

// A file on each line, so that `diff` and `grep` can be put to it; in pieces, as there may be very many.
const textOf = function* ({ files, skipped, ...head }: Manifest): Generator<Buffer> {
  yield Buffer.from(`${JSON.stringify(head).slice(0, -1)},\n"files":[`);
  yield* linesOf(files);
  yield Buffer.from('],\n"skipped":[');
  yield* linesOf(skipped);
  yield Buffer.from(']}\n');
};

const LINES = 500;

const linesOf = function* (list: readonly object[]): Generator<Buffer> {
  for (let from = 0; from < list.length; from += LINES) {
    const lines = list.slice(from, from + LINES).map((one) => `\n${JSON.stringify(one)}`);
    yield Buffer.from(`${from === 0 ? '' : ','}${lines.join(',')}`);
  }
};

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
