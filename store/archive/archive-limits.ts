import { type ArchiveEntry, ArchiveError, printableName } from './archive.ts';

const MEBIBYTE = 1_048_576;
const GIBIBYTE = 1024 * MEBIBYTE;

export const MAX_ENTRIES = 1_000_000;
export const MAX_MANIFEST_BYTES = 256 * MEBIBYTE;
const MAX_ENTRY_BYTES = 4 * GIBIBYTE;
const MAX_TOTAL_BYTES = 64 * GIBIBYTE;
// Logs compress a hundredfold, and small files more; what is both big and that dense is no workspace.
const BIG_BYTES = 100 * MEBIBYTE;
const MAX_RATIO = 100;

/** Throws an ArchiveError for what would fill a disk or a memory. `compressed` are the bytes that stand in the archive. */
export const checkSize = (
  { path, size }: Pick<ArchiveEntry, 'path' | 'size'>,
  compressed: number,
): void => {
  const entry = `The entry ${printableName(path)}`;
  if (size > MAX_ENTRY_BYTES) throw refusal(`${entry} has more than ${MAX_ENTRY_BYTES} bytes`);
  refuseBomb(entry, size, compressed);
};

/** The same for an archive as a whole. */
export const checkTotals = (size: number, compressed: number): void => {
  if (size > MAX_TOTAL_BYTES) throw refusal(`The archive holds more than ${MAX_TOTAL_BYTES} bytes`);
  refuseBomb('The archive', size, compressed);
};

export const checkCount = (entries: number): void => {
  if (entries > MAX_ENTRIES) throw refusal(`The archive has more than ${MAX_ENTRIES} entries`);
};

const refuseBomb = (what: string, size: number, compressed: number): void => {
  if (size <= BIG_BYTES || size <= compressed * MAX_RATIO) return;
  throw refusal(`${what} is to become ${size} bytes from ${compressed}, which no workspace does`);
};

const refusal = (why: string): ArchiveError => new ArchiveError(`${why}. Nothing was imported.`);
