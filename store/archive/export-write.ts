import type { Manifest, ManifestFile, SkippedFile } from '../records/manifest.ts';
import { countsOf } from './archive-files.ts';
import type { Outbox } from './export-outbox.ts';
import { createShelf } from './export-shelf.ts';
import { readTree } from './export-tree.ts';
import { createZip } from './export-zip.ts';

/** What the exporting thread is given. */
export interface ExportTask {
  root: string;
  /** Where it may put what is too large for memory. */
  tmp: string;
  generated_at: string;
}

// No value of the schema's module, which would be loaded with all of typebox.
const FORMAT: Manifest['format'] = 'dossier-export/1';

/** Writes the workspace as a zip archive; its manifest is the last entry, and says what the others are. */
export const writeExport = async (
  { root, tmp, generated_at }: ExportTask,
  outbox: Outbox,
): Promise<void> => {
  const shelf = createShelf(tmp);
  const zip = createZip(outbox);
  const files: ManifestFile[] = [];
  const skipped: SkippedFile[] = [];
  for await (const unit of readTree(root, shelf)) {
    for (const file of unit.files) {
      await zip.add(file, shelf.contentOf(file));
      files.push({ path: file.path, size: file.size, sha256: file.sha256 });
    }
    for (const one of unit.skipped) skipped.push(one);
  }
  const manifest: Manifest = {
    format: FORMAT,
    generated_at,
    counts: countsOf(files.map(({ path }) => path)),
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
