import { accessSync, constants, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { orElseUnlessFault } from '../base/attempt.ts';
import { isRecordName } from '../base/names.ts';
import { statsAt } from '../fs/plain-path.ts';
import { isInGrace, type ReadAgain, type ReadEntry, readEntry } from './entry.ts';
import { asProblem, LINKED_FOLDER, NO_FOLDER, type Problem } from './problem.ts';

/** The record files of a folder, by name, and what keeps the folder itself from being read. */
export interface RecordFolder<T> {
  entries: Map<string, ReadEntry<T>>;
  /** Of all that is in it. */
  names: readonly string[];
  fault: Problem | undefined;
}

/**
 * Reads the record files of a folder. One that has just vanished stays for the grace period, marked; all stay while
 * the folder cannot be read.
 */
export const readFolder = <T>(
  dir: string,
  before: ReadonlyMap<string, ReadEntry<T>>,
  { parse, patient = false }: Omit<ReadAgain<T>, 'before'>,
  isWanted: (name: string) => boolean = () => true,
): RecordFolder<T> => {
  const { names, fault } = listFolder(dir);
  if (fault !== undefined) return { entries: new Map(before), names, fault };
  const entries = new Map<string, ReadEntry<T>>();
  for (const name of names.filter((each) => isRecordName(each) && isWanted(each)).toSorted()) {
    const entry = readEntry(join(dir, name), { before: before.get(name), parse, patient });
    if (entry !== undefined) entries.set(name, entry);
  }
  for (const [name, entry] of before) {
    const gone_at = entry.gone_at ?? performance.now();
    if (!entries.has(name) && isInGrace(gone_at)) entries.set(name, { ...entry, gone_at });
  }
  return { entries, names, fault };
};

/** The names in a folder of ours; none where there is no folder. A link is none, wherever it leads. */
export const listFolder = (dir: string): { names: string[]; fault: Problem | undefined } => {
  try {
    // Most folders of most Work items are not there: an error for each would be the costly way to learn it.
    const fault = notAFolder(statsAt(dir));
    return { names: fault === undefined ? readdirSync(dir) : [], fault: fault ?? undefined };
  } catch (error) {
    return { names: [], fault: asProblem(error) };
  }
};

// Null where there is nothing at all.
const notAFolder = (stats: Stats | undefined): Problem | null | undefined => {
  if (stats === undefined) return null;
  if (stats.isDirectory()) return undefined;
  return stats.isSymbolicLink() ? LINKED_FOLDER : NO_FOLDER;
};

/** What keeps a folder from being read, without reading it; undefined also where there is none. */
export const folderFault = (dir: string): Problem | undefined => {
  try {
    const fault = notAFolder(statsAt(dir));
    if (fault === undefined) accessSync(dir, constants.R_OK | constants.X_OK);
    return fault ?? undefined;
  } catch (error) {
    return asProblem(error);
  }
};

/** The same, where nobody asks why there are none. An error of the disk is thrown: it does not say that there are none. */
export const listDirectory = (dir: string): string[] =>
  orElseUnlessFault(() => (notAFolder(statsAt(dir)) === undefined ? readdirSync(dir) : []), []);

/** The record files of a folder, by name; none when there is no folder. */
export const recordNames = (dir: string): string[] =>
  listDirectory(dir).filter(isRecordName).toSorted();
