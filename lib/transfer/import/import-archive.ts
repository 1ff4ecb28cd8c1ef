import { basename, dirname } from 'node:path';
import type { Archive } from '../../../store/archive/archive.ts';
import { idIn } from '../../../store/archive/occupancy.ts';
import {
  contentOf,
  readManifest,
  tapBytes,
  type VerifiedEntry,
} from '../../../store/archive/read-manifest.ts';
import { CASE_FILE } from '../../../store/layout.ts';
import { type ImportOptions, type ImportOutcome, importFiles } from './import-files.ts';

/** Imports an export into a workspace. Throws ArchiveError if a byte of it does not match its manifest. */
export const importArchive = async (
  archive: Archive,
  options: ImportOptions,
): Promise<ImportOutcome> => {
  const files = await readManifest(archive);
  const ids = new Map<string, string>();
  const bytesOf = (file: VerifiedEntry) => verified(archive, file, ids);
  return importFiles(() => ({ files, bytesOf, ids }), options);
};

// The bytes of a file. Notes the id of a Work item while its case.md is read.
const verified = (
  archive: Archive,
  file: VerifiedEntry,
  ids: Map<string, string>,
): AsyncIterable<Uint8Array> => {
  const bytes = contentOf(archive, file);
  if (basename(file.path) !== CASE_FILE) return bytes;
  return tapBytes(bytes, (all) => {
    const id = idIn(all);
    if (id !== undefined) ids.set(dirname(file.path), id);
  });
};
