import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { noteTakenBack, recordChange } from '../base/write-stage.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { createFile, removeFile, syncIfThere } from '../fs/durable.ts';
import { statsAt } from '../fs/plain-path.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import { writeSynced } from '../fs/synced.ts';
import { proofDir } from '../layout.ts';
import { assertItemAt } from '../reconcile/change-item.ts';
import type { Item } from '../reconcile/item.ts';
import { readyToWrite, type Store } from '../store.ts';

/** An uploaded file, staged in .dossier/tmp. */
export interface UploadedFile {
  /** The file's name in `proof/`. */
  name: string;
  staged: string;
}

/** Stages an upload without holding a lock, runs `work` with its path, and removes the staged file. */
export const withUpload = async <T>(
  store: Store,
  chunks: AsyncIterable<Uint8Array>,
  work: (staged: string) => Promise<T>,
): Promise<T> => {
  await readyToWrite(store);
  const staged = join(store.layout.tmp, randomUUID());
  try {
    await writeSynced(staged, (handle) => writeFile(handle, chunks), 0o600);
    return await work(staged);
  } finally {
    unlinkIfThere(staged);
  }
};

/**
 * Copies an upload into `proof/`, then writes its record with `write`. If that fails, and there is no record, the copy is
 * removed again. A crash between the two leaves a file that no proof names; a repeated request moves it to `.dossier/undo`.
 */
export const withPlacedUpload = async <T>(
  store: Store,
  item: Item,
  { name, staged, record }: UploadedFile & { record: string },
  write: () => Promise<T>,
): Promise<T> => {
  const path = join(dirname(record), name);
  try {
    await placeUpload(store, item, { path, staged });
    return await write();
  } catch (error) {
    if (orElse(() => statsAt(record), true) === undefined) await takeBack(path);
    throw error;
  }
};

const placeUpload = async (
  store: Store,
  item: Item,
  { path, staged }: { path: string; staged: string },
): Promise<void> => {
  const { layout } = store;
  const place = () =>
    createFile(layout, path, (handle) => writeFile(handle, createReadStream(staged)), {
      assertMeant: () => assertItemAt(store, item),
    });
  if (await place()) return;
  if (item.files.unknown.includes(basename(path))) await removeFile(layout, path);
  if (await place()) return;
  throw new StoreError(
    'file_busy',
    `${item.dir}/proof/${basename(path)} already exists. Try again`,
  );
};

// Only what this call placed.
const takeBack = async (path: string): Promise<void> => {
  if (recordChange(path) === 'again')
    try {
      unlinkIfThere(path);
      await syncIfThere(dirname(path));
    } catch {
      // It may be there after a power cut.
      return;
    }
  noteTakenBack(path);
};

/** The bytes of a file in `proof/`; undefined if it is missing or not a regular file. */
export const readMedia = ({ layout }: Store, { dir }: Item, name: string): Buffer | undefined =>
  readRegularFile(layout.root, join(proofDir(join(layout.root, dir)), name));
