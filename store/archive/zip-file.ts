import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import { messageOf } from '../base/attempt.ts';
import { MANIFEST_NAME } from '../records/manifest.ts';
import { type Archive, type ArchiveEntry, ArchiveError, printableName } from './archive.ts';
import {
  checkArchivePath,
  checkCount,
  checkNames,
  checkSize,
  checkTotals,
  refused,
} from './archive-checks.ts';

interface ZipEntry extends ArchiveEntry {
  compressed: number;
  isDeflated: boolean;
  /** The offsets of the local header and of the data. */
  header: number;
  start: number;
}

/**
 * Opens a zip file. Throws an ArchiveError if it is damaged or malicious, as far as that can be checked without reading the
 * contents.
 */
export const openZip = async (path: string): Promise<Archive> => {
  const { default: yauzl } = await import('yauzl');
  const options = {
    autoClose: false,
    lazyEntries: true,
    decodeStrings: false,
    validateEntrySizes: true,
  };
  const zip = await yauzl.openPromise(path, options).catch((error: unknown) => {
    throw damaged(path, error);
  });
  // Later errors are also thrown by the stream of an entry.
  zip.on('error', () => undefined);
  try {
    const nameOf = (entry: Entry): string => {
      const raw = entry.fileName as unknown as Buffer;
      return yauzl.getFileNameLowLevel(entry.generalPurposeBitFlag, raw, entry.extraFields, true);
    };
    const all = await readEntries(zip, nameOf).catch((error: unknown) => {
      throw damaged(path, error);
    });
    return archiveOf(path, zip, all);
  } catch (error) {
    zip.close();
    throw error;
  }
};

const damaged = (path: string, error: unknown): unknown => {
  if (error instanceof ArchiveError || !(error instanceof Error)) return error;
  // Errors of the file system pass through.
  if ('syscall' in error) return error;
  const why = error.message.startsWith('End of central directory')
    ? 'is not a complete zip file'
    : `is damaged: ${error.message}`;
  return new ArchiveError(`${path} ${why}. Nothing was imported. Copy or download it again.`);
};

const archiveOf = (path: string, zip: ZipFile, all: ZipEntry[]): Archive => {
  const entries = all.toSorted((a, b) => a.header - b.header);
  checkNames(withoutManifest(entries).map((entry) => entry.path));
  const manifests = entries.filter((entry) => entry.path === MANIFEST_NAME);
  if (manifests.length > 1) throw refused(MANIFEST_NAME, 'it is in the archive twice');
  checkSpans(entries);
  checkTotals(
    sum(entries.map(({ size }) => size)),
    sum(entries.map(({ compressed }) => compressed)),
  );
  return {
    name: path,
    manifest: manifests[0],
    entries: withoutManifest(entries),
    read: (entry) => bytesOf(zip, entry as ZipEntry),
    close: () => zip.close(),
  };
};

const withoutManifest = (entries: ZipEntry[]): ZipEntry[] =>
  entries.filter(({ path }) => path !== MANIFEST_NAME);

const sum = (numbers: number[]): number => numbers.reduce((total, each) => total + each, 0);

const readEntries = async (zip: ZipFile, nameOf: (entry: Entry) => string): Promise<ZipEntry[]> => {
  checkCount(zip.entryCount);
  const entries: ZipEntry[] = [];
  for await (const entry of zip.eachEntry()) {
    const path = nameOf(entry);
    checkEntry(path, entry);
    const header = await zip.readLocalFileHeaderPromise(entry);
    const raw = entry.fileName as unknown as Buffer;
    if (!header.fileName.equals(raw)) throw refused(path, 'its local header has another name');
    if (path.endsWith('/')) continue;
    entries.push({
      path,
      size: entry.uncompressedSize,
      mode: permissionsOf(entry),
      mtime: entry.getLastModDate({ timezone: 'UTC' }),
      compressed: entry.compressedSize,
      isDeflated: entry.compressionMethod === DEFLATED,
      header: entry.relativeOffsetOfLocalHeader,
      start: header.fileDataStart,
    });
  }
  return entries;
};

const STORED = 0;
const DEFLATED = 8;
// Traditional encryption, strong encryption, and encryption of the central directory.
const ENCRYPTED = 0x1 | 0x40 | 0x2000;
const UTF8_NAME = 0x800;

const checkEntry = (path: string, entry: Entry): void => {
  const { generalPurposeBitFlag: flags, uncompressedSize: size, compressedSize } = entry;
  if ((flags & UTF8_NAME) !== 0 && !isUtf8(entry.fileName as unknown as Buffer))
    throw refused(path, 'its name is not UTF-8');
  if ((flags & ENCRYPTED) !== 0)
    throw refused(path, 'it is encrypted; make the archive without a password');
  if (![STORED, DEFLATED].includes(entry.compressionMethod))
    throw refused(path, `it uses compression method ${entry.compressionMethod}; use deflate`);
  const isFolder = path.endsWith('/');
  checkKind(path, modeOf(entry), isFolder);
  if (isFolder && size > 0) throw refused(path, 'it is a directory with content');
  if (isFolder) checkArchivePath(path.slice(0, -1));
  checkSize({ path, size }, compressedSize);
};

const KIND = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;

const modeOf = ({ externalFileAttributes }: Entry): number => externalFileAttributes >>> 16;

const checkKind = (path: string, mode: number, isFolder: boolean): void => {
  const kind = mode & KIND;
  if (kind !== 0 && kind !== (isFolder ? FOLDER : REGULAR))
    throw refused(path, 'it is a link or a device, not a file');
  if ((mode & 0o7000) !== 0)
    throw refused(path, `it has the special mode ${(mode & 0o7777).toString(8)}`);
};

const permissionsOf = (entry: Entry): number => {
  const permissions = modeOf(entry) & 0o777;
  return permissions === 0 ? 0o644 : permissions;
};

// Overlapping entries are a zip bomb.
const checkSpans = (entries: ZipEntry[]): void => {
  let end = 0;
  for (const { path, header, start, compressed } of entries) {
    if (header < end) throw refused(path, 'it shares its bytes with another entry');
    end = start + compressed;
  }
};

const bytesOf = async function* (zip: ZipFile, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  try {
    yield* await streamOf(zip, entry);
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw error;
    const why = messageOf(error);
    throw new ArchiveError(
      `The entry ${printableName(entry.path)} cannot be unpacked (${why}). Nothing was imported. Copy or download the archive again.`,
    );
  }
};

// The stream fails at the first byte beyond the declared size.
const streamOf = (
  zip: ZipFile,
  { start, compressed, isDeflated, size }: ZipEntry,
): Promise<Readable> =>
  new Promise((resolve, reject) => {
    zip.openReadStreamLowLevel(
      start,
      compressed,
      0,
      compressed,
      isDeflated,
      size,
      (error, stream) => (error === null ? resolve(stream) : reject(error)),
    );
  });
