import { randomUUID } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../base/errors.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { createFile, removeFile } from '../fs/durable.ts';
import { writeSynced } from '../fs/synced.ts';
import { proofDir } from '../layout.ts';
import { assertOwn } from '../reconcile/change-item.ts';
import type { Item } from '../reconcile/item.ts';
import { readyToWrite, type Store } from '../store.ts';

/** A file that came in, and waits for its place where nobody looks. */
export interface UploadedFile {
  /** Its name beside the record. */
  name: string;
  staged: string;
}

/** Takes a file in, as fast as it comes and nobody waits for it, and runs work with it. What is left of it is removed. */
export const withUpload = async <T>(
  store: Store,
  chunks: AsyncIterable<Uint8Array>,
  work: (staged: string) => Promise<T>,
): Promise<T> => {
  await readyToWrite(store);
  const staged = join(store.layout.tmp, randomUUID());
  try {
    await writeSynced(staged, (handle) => writeAll(handle, chunks), 0o600);
    return await work(staged);
  } finally {
    rmSync(staged, { force: true });
  }
};

const writeAll = async (handle: FileHandle, chunks: AsyncIterable<Uint8Array>): Promise<void> => {
  for await (const chunk of chunks) await handle.writeFile(chunk);
};

/**
 * Puts it beside where its record is to be. Whoever died between the two left a file that no proof is about: the same
 * call, made again, puts that into `.dossier/undo`.
 */
export const placeUpload = async (
  store: Store,
  item: Item,
  { name, staged }: UploadedFile,
): Promise<void> => {
  const { layout } = store;
  const path = join(proofDir(join(layout.root, item.dir)), name);
  const place = () =>
    createFile(layout, path, (handle) => writeAll(handle, createReadStream(staged)), {
      assertMeant: () => assertOwn(store, item),
    });
  if (await place()) return;
  if (item.files.unknown.includes(name)) await removeFile(layout, path);
  if (await place()) return;
  throw new StoreError('file_busy', `${item.dir}/proof/${name} is there already; try again`);
};

/** Its bytes; undefined where it is not there, or is no plain file. */
export const readMedia = ({ layout }: Store, { dir }: Item, name: string): Buffer | undefined =>
  readRegularFile(layout.root, join(proofDir(join(layout.root, dir)), name));
