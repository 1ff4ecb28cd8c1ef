import { createHash } from 'node:crypto';
import { type Archive, ArchiveError, printableName } from './archive.ts';
import type { Vouched } from './read-manifest.ts';

/** The bytes of a file of an archive, hashed as they come. Ends with an ArchiveError unless they are those of the manifest. */
export const contentOf = async function* (
  archive: Archive,
  file: Vouched,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of archive.read(file)) {
    size += chunk.length;
    if (size > file.size) throw changed(archive, file);
    hash.update(chunk);
    yield chunk;
  }
  if (size !== file.size || hash.digest('hex') !== file.sha256) throw changed(archive, file);
};

const changed = ({ name }: Archive, { path }: Vouched): ArchiveError =>
  new ArchiveError(
    `The entry ${printableName(path)} of ${name} is not what its manifest says: it was changed or damaged. ` +
      'Export again; nothing was imported.',
  );

/** Passes bytes on and keeps them, as long as they are few: `told` gets all of them at the end. */
export const overheard = async function* (
  bytes: AsyncIterable<Uint8Array>,
  told: (all: Buffer) => void,
): AsyncGenerator<Uint8Array> {
  const kept: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size <= MAX_KEPT) kept.push(chunk);
    yield chunk;
  }
  if (size <= MAX_KEPT) told(Buffer.concat(kept));
};

const MAX_KEPT = 2_097_152;
