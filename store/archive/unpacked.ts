import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../base/attempt.ts';
import { modifiedAt } from '../base/modified-at.ts';
import { MANIFEST_NAME } from '../records/manifest.ts';
import { type Archive, type ArchiveEntry, ArchiveError, printableName } from './archive.ts';
import { checkCount, checkNames, refused } from './archive-checks.ts';

/** Opens an unpacked export. Throws an ArchiveError for entries that no export has; follows no link. */
export const openUnpacked = (root: string): Archive => {
  const all = [...filesBelow(root, '')];
  checkCount(all.length);
  const entries = all.filter(({ path }) => path !== MANIFEST_NAME);
  checkNames(entries.map(({ path }) => path));
  return {
    name: root,
    manifest: all.find(({ path }) => path === MANIFEST_NAME),
    entries,
    read: (entry) => bytesOf(root, entry),
    close: () => undefined,
  };
};

const filesBelow = function* (root: string, dir: string): Generator<ArchiveEntry> {
  for (const found of readdirSync(join(root, dir), { withFileTypes: true })) {
    const path = `${dir}${found.name}`;
    if (path === '.dossier') throw new ArchiveError(`${root} ${IN_USE}`);
    if (found.isDirectory()) yield* filesBelow(root, `${path}/`);
    else if (found.isFile()) yield entryOf(root, path);
    else throw refused(path, 'it is a link or a device, not a file');
  }
};

const IN_USE =
  'has been used as a workspace since it was unpacked (it contains .dossier). Nothing was imported. Run dossier serve on it, ' +
  'or export it and import that.';

const entryOf = (root: string, path: string): ArchiveEntry => {
  const stats = lstatSync(join(root, path));
  const { size, mode } = stats;
  return { path, size, mode: mode & 0o777, mtime: new Date(modifiedAt(stats)) };
};

const bytesOf = async function* (
  root: string,
  { path, size }: ArchiveEntry,
): AsyncGenerator<Uint8Array> {
  const handle = await openPlain(join(root, path)).catch((error: unknown) => {
    throw hasCode(error, 'ELOOP') ? refused(path, 'it is a link') : error;
  });
  let read = 0;
  // The stream closes the handle.
  for await (const chunk of handle.createReadStream()) {
    read += chunk.length;
    if (read > size)
      throw new ArchiveError(
        `${printableName(path)} grew while it was being read. Nothing was imported.`,
      );
    yield chunk;
  }
};

const openPlain = (path: string) => open(path, constants.O_RDONLY | constants.O_NOFOLLOW);

/** What a path can be imported as. */
type SourceKind = 'absent' | 'zip' | 'export' | 'workspace' | 'unknown' | 'other';

export const sourceKindOf = (path: string): SourceKind => {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 'absent';
  if (stats.isFile()) return beginsAsZip(path) ? 'zip' : 'unknown';
  if (!stats.isDirectory()) return 'other';
  if (has(path, MANIFEST_NAME)) return 'export';
  return ['workspace.md', 'cases', '.dossier'].some((name) => has(path, name))
    ? 'workspace'
    : 'unknown';
};

// Every part of a zip file, also an empty one, begins with these bytes.
const SIGNATURE = 'PK';

const beginsAsZip = (path: string): boolean => {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(SIGNATURE.length);
    readSync(file, bytes);
    return bytes.toString('latin1') === SIGNATURE;
  } finally {
    closeSync(file);
  }
};

const has = (dir: string, name: string): boolean =>
  statSync(join(dir, name), { throwIfNoEntry: false }) !== undefined;
