import { type Dirent, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, hasCode } from '../base/attempt.ts';
import { directoryIdentity, isPlainDirectory, statsAt } from '../fs/plain-path.ts';
import { repeat } from '../fs/retry.ts';
import { CASE_FILE } from '../layout.ts';
import type { SkippedFile } from '../records/manifest.ts';
import { isExcluded, unfitReason } from './archive-files.ts';
import type { Shelf } from './export-shelf.ts';
import { IS_LINK, NO_PERMISSION, readSteady, type SteadyFile } from './steady-read.ts';

interface ReadFile extends SteadyFile {
  /** Relative to the workspace. */
  path: string;
}

/** Files that are read together: those of a Work item, or of one other directory. */
export interface Unit {
  files: ReadFile[];
  skipped: SkippedFile[];
}

const ROUNDS = 3;

/**
 * Reads the files for an archive below `top`, unit by unit; a unit stays on the shelf until the next is requested. A Work
 * item that is moved meanwhile is read exactly once: after a directory vanished, the tree is read again at the end.
 */
export const readTree = async function* (
  root: string,
  shelf: Shelf,
  top = '',
): AsyncGenerator<Unit> {
  const reader: Reader = {
    root: realpathSync(root),
    shelf,
    items: new Set(),
    paths: new Set(),
    missed: true,
  };
  for (let round = 0; round < ROUNDS && reader.missed; round += 1) {
    reader.missed = false;
    const waiting = [top];
    for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
      const { unit, below } = await readUnit(reader, dir);
      waiting.push(...below.toReversed());
      for (const { path } of [...unit.files, ...unit.skipped]) reader.paths.add(path);
      yield unit;
    }
  }
};

interface Reader {
  root: string;
  shelf: Shelf;
  /** Work items already read, by the identity of their directories. */
  items: Set<string>;
  paths: Set<string>;
  /** Whether an entry vanished between listing and reading. */
  missed: boolean;
}

const readUnit = async (
  reader: Reader,
  dir: string,
): Promise<{ unit: Unit; below: readonly string[] }> => {
  const read = await repeat(async (isLast) => {
    reader.shelf.clear();
    const listing = list(reader, dir);
    const { unit, gone } = await readFiles(reader, listing);
    const isWhole = isStillThere(reader.root, dir, listing);
    reader.missed ||= gone || !isWhole;
    if (!isWhole || (gone && !isLast)) return undefined;
    if (listing.item !== undefined) reader.items.add(listing.item);
    return { unit, below: listing.below };
  });
  // The unit was moved: none of it is used, and the next round finds it.
  return read ?? { unit: { files: [], skipped: [] }, below: [] };
};

interface Listing {
  /** Every directory of the unit, with its identity before anything in it was read. */
  folders: { path: string; mark: string }[];
  files: string[];
  skipped: SkippedFile[];
  /** Directories that are units of their own. */
  below: string[];
  /** The identity of a Work item's directory. */
  item?: string;
}

const list = (reader: Reader, dir: string): Listing => {
  const listing: Listing = { folders: [], files: [], skipped: [], below: [] };
  const below = look(reader, dir, listing);
  if (!isItem(dir, listing)) return { ...listing, below };
  const mark = listing.folders[0]?.mark ?? '';
  if (reader.items.has(mark)) return { folders: [], files: [], skipped: [], below: [] };
  for (let next = below.pop(); next !== undefined; next = below.pop())
    below.push(...look(reader, next, listing));
  return { ...listing, item: mark };
};

const isItem = (dir: string, { files }: Listing): boolean =>
  (dir === 'cases' || dir.startsWith('cases/')) && files.includes(`${dir}/${CASE_FILE}`);

/** Adds the entries of a directory to the listing, and returns the directories in it. */
const look = ({ root, paths }: Reader, dir: string, listing: Listing): string[] => {
  const path = join(root, dir);
  const mark = directoryIdentity(statsAt(path));
  listing.folders.push({ path, mark });
  // Gone or replaced: the unit is incomplete, and none of it is used.
  if (mark === '' && dir !== '') return [];
  const wanted = entriesOf(path, dir, listing)
    .map((entry) => ({ entry, at: dir === '' ? entry.name : `${dir}/${entry.name}` }))
    .filter(({ entry, at }) => !paths.has(at) && !isExcluded(entry.isDirectory() ? `${at}/` : at));
  const inside: string[] = [];
  for (const { entry, at } of wanted) {
    const reason = whyNot(root, at, entry);
    if (reason !== undefined) listing.skipped.push({ path: at, reason });
    else (entry.isDirectory() ? inside : listing.files).push(at);
  }
  return inside;
};

const entriesOf = (path: string, dir: string, { skipped }: Listing): Dirent[] => {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (dir === '') throw error;
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    const code = codeOf(error);
    const reason = code === 'EACCES' ? NO_PERMISSION : `it cannot be read (${code})`;
    skipped.push({ path: dir, reason });
    return [];
  }
};

const whyNot = (root: string, path: string, entry: Dirent): string | undefined => {
  if (entry.isSymbolicLink()) return IS_LINK;
  if (!entry.isFile() && !entry.isDirectory()) return 'it is not a regular file';
  if (path.includes('\ufffd') && statsAt(join(root, path)) === undefined)
    return 'its name is not valid UTF-8';
  return unfitReason(path);
};

const readFiles = async (
  { root, shelf }: Reader,
  listing: Listing,
): Promise<{ unit: Unit; gone: boolean }> => {
  const unit: Unit = { files: [], skipped: [...listing.skipped] };
  let gone = false;
  for (const path of listing.files) {
    const read = await readSteady(join(root, path), shelf);
    if (!('reason' in read)) unit.files.push({ ...read, path });
    else if (read.gone) gone = true;
    else unit.skipped.push({ path, reason: read.reason });
  }
  return { unit, gone };
};

// Also checks that no directory of the unit, nor one above it, was replaced.
const isStillThere = (root: string, dir: string, { folders }: Listing): boolean =>
  isPlainDirectory(root, join(root, dir)) &&
  folders.every(({ path, mark }) => mark !== '' && directoryIdentity(statsAt(path)) === mark);
