import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, GRACE_MS, type Reading, readEntry } from './entry.ts';
import { isRecordName } from './names.ts';
import { statsAt } from './plain-path.ts';
import { asProblem, Problem } from './problem.ts';

/** The record files of a folder, by name, and what keeps the folder itself from being read. */
export interface Folder<T> {
  entries: Map<string, Entry<T>>;
  fault: Problem | undefined;
}

/**
 * Reads the record files of a folder. One that has just vanished stays for the grace period, marked; all stay while
 * the folder cannot be read.
 */
export const readFolder = <T>(
  dir: string,
  before: ReadonlyMap<string, Entry<T>>,
  { parse, patient = false }: Omit<Reading<T>, 'before'>,
  isWanted: (name: string) => boolean = () => true,
): Folder<T> => {
  const { names, fault } = listFolder(dir);
  if (fault !== undefined) return { entries: new Map(before), fault };
  const entries = new Map<string, Entry<T>>();
  for (const name of names.filter((each) => isRecordName(each) && isWanted(each)).toSorted()) {
    const entry = readEntry(join(dir, name), { before: before.get(name), parse, patient });
    if (entry !== undefined) entries.set(name, entry);
  }
  for (const [name, entry] of before) {
    const gone_at = entry.gone_at ?? Date.now();
    if (!entries.has(name) && Date.now() - gone_at < GRACE_MS)
      entries.set(name, { ...entry, gone_at });
  }
  return { entries, fault };
};

/** The names in a folder of ours; none where there is no folder. A link is none, wherever it leads. */
export const listFolder = (dir: string): { names: string[]; fault: Problem | undefined } => {
  try {
    const stats = statsAt(dir);
    // Most folders of most Work items are not there: an error for each would be the costly way to learn it.
    if (stats === undefined) return { names: [], fault: undefined };
    if (stats.isDirectory()) return { names: readdirSync(dir), fault: undefined };
    const link = stats.isSymbolicLink();
    return { names: [], fault: link ? LINKED : NO_FOLDER };
  } catch (error) {
    return { names: [], fault: asProblem(error) };
  }
};

const LINKED = new Problem(
  'symbolic_link',
  'Symbolic links are not followed. Put the directory itself here',
);
const NO_FOLDER = new Problem(
  'not_a_directory',
  'There is a file where a directory should be. Remove it',
);

/** The same, where nobody asks why there are none. */
export const listDirectory = (dir: string): string[] => listFolder(dir).names;

/** The record files of a folder, by name; none when there is no folder. */
export const namesIn = (dir: string): string[] =>
  listDirectory(dir).filter(isRecordName).toSorted();
