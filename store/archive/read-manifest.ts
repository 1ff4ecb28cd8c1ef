import { createHash } from 'node:crypto';
import { Compile } from 'typebox/compile';
import { orElse } from '../base/attempt.ts';
import {
  MANIFEST_FORMAT,
  MANIFEST_NAME,
  Manifest,
  type ManifestFile,
} from '../records/manifest.ts';
import { type Archive, type ArchiveEntry, ArchiveError, printableName } from './archive.ts';
import { MAX_MANIFEST_BYTES } from './archive-checks.ts';
import { fileCounts } from './archive-files.ts';

/** An entry with its hash from the manifest. */
export type VerifiedEntry = ArchiveEntry & Pick<ManifestFile, 'sha256'>;

/**
 * Reads the manifest and returns the files with their hashes. Throws an ArchiveError unless the manifest exists, has a known
 * format, and lists exactly the entries of the archive, with their sizes.
 */
export const readManifest = async (archive: Archive): Promise<VerifiedEntry[]> => {
  const manifest = parseManifest(archive, await textOf(archive));
  const named = new Map(manifest.files.map((file) => [file.path, file]));
  if (named.size < manifest.files.length) throw bad(archive, 'it names a file twice');
  const vouched = archive.entries.map((entry) => vouch(archive, entry, named.get(entry.path)));
  if (named.size > vouched.length) throw missing(archive, named);
  checkCounts(archive, manifest);
  return vouched;
};

const bad = ({ name }: Archive, why: string): ArchiveError =>
  new ArchiveError(
    `The ${MANIFEST_NAME} of ${name} is invalid: ${why}. Nothing was imported. Export again.`,
  );

const textOf = async (archive: Archive): Promise<string> => {
  const { manifest, name } = archive;
  if (manifest === undefined)
    throw new ArchiveError(
      `${name} has no ${MANIFEST_NAME}, so it is not a complete export of a workspace. Nothing was imported.`,
    );
  if (manifest.size > MAX_MANIFEST_BYTES) throw bad(archive, `it has ${manifest.size} bytes`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive.read(manifest)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

const parseManifest = (archive: Archive, text: string): Manifest => {
  const value: unknown = orElse(() => JSON.parse(text), undefined);
  if (value === undefined) throw bad(archive, 'it is not JSON');
  checkFormat(archive, value);
  const validator = Compile(Manifest);
  if (validator.Check(value)) return value;
  const [error] = validator.Errors(value);
  throw bad(archive, `${error?.instancePath || '/'} ${error?.message ?? 'is wrong'}`);
};

const checkFormat = ({ name }: Archive, value: unknown): void => {
  const format = String((value as { format?: unknown } | null)?.format);
  if (format === MANIFEST_FORMAT) return;
  const [ours = '', number = ''] = MANIFEST_FORMAT.split('/');
  const [theirs, theirNumber] = format.split('/');
  throw new ArchiveError(
    theirs === ours && Number(theirNumber) > Number(number)
      ? `${name} was made by a newer dossier. Install one that reads ${printableName(format)}: this one reads ${MANIFEST_FORMAT}. Nothing was imported.`
      : `${name} is not an export of a workspace: its format is ${printableName(format)}, not ${MANIFEST_FORMAT}. Nothing was imported.`,
  );
};

const vouch = (
  archive: Archive,
  entry: ArchiveEntry,
  file: ManifestFile | undefined,
): VerifiedEntry => {
  if (file === undefined)
    throw new ArchiveError(
      `The entry ${printableName(entry.path)} is not in the manifest of ${archive.name}: it was added later. Nothing was imported. Remove it, or export again.`,
    );
  if (file.size !== entry.size)
    throw new ArchiveError(
      `The entry ${printableName(entry.path)} has ${entry.size} bytes, but ${file.size} in the manifest: it was changed. Nothing was imported. Export again.`,
    );
  return { ...entry, sha256: file.sha256 };
};

const missing = ({ name, entries }: Archive, named: Map<string, ManifestFile>): ArchiveError => {
  for (const { path } of entries) named.delete(path);
  const [first = ''] = named.keys();
  const more = named.size === 1 ? '' : ` and ${named.size - 1} more`;
  return new ArchiveError(
    `${printableName(first)}${more} of the manifest is missing in ${name}: it is incomplete. Nothing was imported. Copy or export it again.`,
  );
};

const checkCounts = (archive: Archive, { counts, files }: Manifest): void => {
  const found = fileCounts(files.map(({ path }) => path));
  for (const name of ['cases', 'sessions', 'files'] as const)
    if (counts[name] !== found[name])
      throw bad(archive, `it counts ${counts[name]} ${name}, but lists ${found[name]}`);
};

/** Streams the bytes of a file of an archive. Throws an ArchiveError if they do not match the manifest. */
export const contentOf = async function* (
  archive: Archive,
  file: VerifiedEntry,
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

const changed = ({ name }: Archive, { path }: VerifiedEntry): ArchiveError =>
  new ArchiveError(
    `The entry ${printableName(path)} of ${name} does not match the manifest: it was changed or damaged. ` +
      'Nothing was imported. Export again.',
  );

/** Passes bytes on, and calls `told` with all of them at the end if they are at most 2 MiB. */
export const tapBytes = async function* (
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
