import { basename, dirname } from 'node:path';
import type { Archive } from '../../../store/archive/archive.ts';
import { idIn } from '../../../store/archive/occupancy.ts';
import {
  contentOf,
  overheard,
  readManifest,
  type Vouched,
} from '../../../store/archive/read-manifest.ts';
import { CASE_FILE } from '../../../store/layout.ts';
import { type BroughtIn, bringInFiles, type ImportOptions } from './bring-in.ts';

/** Brings an export into a workspace. Throws an ArchiveError for one that is not, to the byte, what its manifest says. */
export const importArchive = async (
  archive: Archive,
  options: ImportOptions,
): Promise<BroughtIn> => {
  const files = await readManifest(archive);
  const ids = new Map<string, string>();
  const bytesOf = (file: Vouched) => verified(archive, file, ids);
  return bringInFiles(() => ({ files, bytesOf, ids }), options);
};

// The bytes of a file; on the way the ids of Work items are noted, by their directories.
const verified = (
  archive: Archive,
  file: Vouched,
  ids: Map<string, string>,
): AsyncIterable<Uint8Array> => {
  const bytes = contentOf(archive, file);
  if (basename(file.path) !== CASE_FILE) return bytes;
  return overheard(bytes, (all) => {
    const id = idIn(all);
    if (id !== undefined) ids.set(dirname(file.path), id);
  });
};
