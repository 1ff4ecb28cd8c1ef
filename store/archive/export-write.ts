import { once } from 'node:events';
import { Readable } from 'node:stream';
import { constants } from 'node:zlib';
import { ZipArchive } from 'archiver';
import type { Manifest, ManifestFile, SkippedFile } from '../records/manifest.ts';
import { fileCounts } from './archive-files.ts';
import type { Outbox } from './export-outbox.ts';
import { createShelf } from './export-shelf.ts';
import { readTree } from './export-tree.ts';

/** The input of the exporting thread. */
export interface ExportTask {
  root: string;
  /** The directory of the spill file. */
  tmp: string;
  generated_at: string;
  /** Exports only this directory of the workspace. */
  dir?: string;
}

// Not imported as a value, which would load typebox.
const FORMAT: Manifest['format'] = 'dossier-export/1';

/** Writes the workspace, or a directory of it, as a zip archive. The last entry is the manifest. */
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
  // The directory was moved: an empty archive would look complete.
  if (dir !== undefined && files.length === 0) throw new Error(`${dir} no longer exists`);
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

// One file per line, for `diff` and `grep`; in pieces, because there may be very many.
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
  /** The name in the archive; see unfitReason. */
  path: string;
  mode: number;
  /** Stored in UTC, because zip has no time zone, with a resolution of two seconds. */
  date: Date;
}

/**
 * Writes a zip file entry by entry. Files in memory are stored, because compressing many small texts takes four times as long
 * as everything else. Long files are compressed, at most eightfold, because readers refuse denser ones as zip bombs.
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
    /** Adds a file, from memory or in pieces; resolves when there is room for the next. */
    add: async (entry: ZipEntry, content: Buffer | Iterable<Buffer>): Promise<void> => {
      await outbox.room();
      await append(entry, Buffer.isBuffer(content) ? content : asStream(content, outbox));
    },
    /** Writes the central directory. No entry can be added after it. */
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
