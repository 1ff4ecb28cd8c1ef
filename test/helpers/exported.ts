import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import type { Manifest } from '../../store/records/manifest.ts';
import { sha256 } from './work-item.ts';

export interface Zipped {
  entries: Map<string, { entry: Entry; bytes: Buffer }>;
  manifest: Manifest;
}

/** Every entry of a zip archive, in its order, without contents. Fails at a name that is there twice. */
export const entriesIn = async (zip: Buffer): Promise<{ file: ZipFile; entries: Entry[] }> => {
  const file = await new Promise<ZipFile>((resolve, reject) => {
    yauzl.fromBuffer(zip, { lazyEntries: false, autoClose: false }, (error, opened) =>
      error === null ? resolve(opened) : reject(error),
    );
  });
  const entries: Entry[] = [];
  file.on('entry', (entry: Entry) => entries.push(entry));
  await once(file, 'end');
  const names = new Set(entries.map(({ fileName }) => fileName));
  assert.equal(names.size, entries.length, 'a name is there twice');
  return { file, entries };
};

/** The bytes of an entry; fails where they are not as long, or have not the checksum, that the archive says. */
export const bytesOf = async (file: ZipFile, entry: Entry): Promise<Buffer> => {
  const stream = await new Promise<Readable>((resolve, reject) => {
    file.openReadStream(entry, (error, opened) =>
      error === null ? resolve(opened) : reject(error),
    );
  });
  return buffer(stream);
};

/** A whole export. Its manifest is the last entry and says of each other one what it is: asserted here. */
export const readExport = async (zip: Buffer): Promise<Zipped> => {
  const { file, entries } = await entriesIn(zip);
  const read: Zipped['entries'] = new Map();
  for (const entry of entries)
    read.set(entry.fileName, { entry, bytes: await bytesOf(file, entry) });
  const last = entries.at(-1);
  assert.equal(last?.fileName, 'manifest.json');
  const manifest = JSON.parse(`${read.get('manifest.json')?.bytes}`) as Manifest;
  read.delete('manifest.json');
  const found = [...read].map(([path, { bytes }]) => ({
    path,
    size: bytes.length,
    sha256: sha256(bytes),
  }));
  assert.deepEqual(
    manifest.files,
    found.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  );
  assert.equal(manifest.counts.files, found.length);
  return { entries: read, manifest };
};
