import { parentsOf } from '../base/paths.ts';
import { type ArchiveEntry, ArchiveError, printableName } from './archive.ts';
import { foldPath, isExcluded, unfitReason } from './archive-files.ts';

// The limits of Linux and most other systems.
const LONGEST_PATH = 1024;
const LONGEST_NAME = 255;

/** Throws an ArchiveError unless every path can be written below a workspace, and no two are the same file there. */
export const checkNames = (paths: Iterable<string>): void => {
  const seen = new Map<string, string>();
  for (const path of paths) {
    checkArchivePath(path);
    const folded = foldPath(path);
    const twin = seen.get(folded);
    if (twin !== undefined) throw new ArchiveError(twins(path, twin));
    seen.set(folded, path);
  }
  for (const [folded, path] of seen) {
    const file = parentsOf(folded).find((above) => seen.has(above));
    if (file !== undefined)
      throw new ArchiveError(
        `The entry ${printableName(seen.get(file) ?? file)} is a file, and ${printableName(path)} is below it. Nothing was imported.`,
      );
  }
};

/** Throws an ArchiveError unless a path can be written below a workspace. */
export const checkArchivePath = (path: string): void => {
  const why = whyRefused(path);
  if (why !== undefined) throw refused(path, why);
};

export const refused = (path: string, why: string): ArchiveError =>
  new ArchiveError(`The entry ${printableName(path)} is refused: ${why}. Nothing was imported.`);

const whyRefused = (path: string): string | undefined => {
  const unfit = unfitReason(path);
  if (unfit !== undefined) return unfit;
  if (Buffer.byteLength(path) > LONGEST_PATH) return `its name has more than ${LONGEST_PATH} bytes`;
  if (path.split('/').some((name) => Buffer.byteLength(name) > LONGEST_NAME))
    return `a part of its name has more than ${LONGEST_NAME} bytes`;
  // Some file systems take `.GIT`, `.git.` and `git~1` for `.git`.
  if (isExcluded(path) || isExcluded(foldPath(path)) || /(?:^|\/)git~\d/.test(foldPath(path)))
    return 'its name is reserved for a lock, a temporary file, or files of one machine';
  return undefined;
};

const twins = (path: string, twin: string): string =>
  path === twin
    ? `The entry ${printableName(path)} is in the archive twice. Nothing was imported.`
    : `The entries ${printableName(twin)} and ${printableName(path)} are the same file on file systems that ignore case or Unicode form. ` +
      'Rename one in the exported workspace and export again, or unpack the archive and run dossier serve on it.';

const MEBIBYTE = 1_048_576;
const GIBIBYTE = 1024 * MEBIBYTE;

const MAX_ENTRIES = 1_000_000;
export const MAX_MANIFEST_BYTES = 256 * MEBIBYTE;
const MAX_ENTRY_BYTES = 4 * GIBIBYTE;
const MAX_TOTAL_BYTES = 64 * GIBIBYTE;
// Logs compress up to a hundredfold, and small files more. No workspace is both larger and denser.
const BIG_BYTES = 100 * MEBIBYTE;
const MAX_RATIO = 100;

/** Throws an ArchiveError for an entry that is too large or too dense. `compressed`: its bytes in the archive. */
export const checkSize = (
  { path, size }: Pick<ArchiveEntry, 'path' | 'size'>,
  compressed: number,
): void => {
  const entry = `The entry ${printableName(path)}`;
  if (size > MAX_ENTRY_BYTES) throw refusal(`${entry} has more than ${MAX_ENTRY_BYTES} bytes`);
  refuseBomb(entry, size, compressed);
};

/** Like `checkSize`, for the whole archive. */
export const checkTotals = (size: number, compressed: number): void => {
  if (size > MAX_TOTAL_BYTES) throw refusal(`The archive has more than ${MAX_TOTAL_BYTES} bytes`);
  refuseBomb('The archive', size, compressed);
};

export const checkCount = (entries: number): void => {
  if (entries > MAX_ENTRIES) throw refusal(`The archive has more than ${MAX_ENTRIES} entries`);
};

const refuseBomb = (what: string, size: number, compressed: number): void => {
  if (size <= BIG_BYTES || size <= compressed * MAX_RATIO) return;
  throw refusal(`${what} unpacks to ${size} bytes from ${compressed}, more than any workspace`);
};

const refusal = (why: string): ArchiveError => new ArchiveError(`${why}. Nothing was imported.`);
