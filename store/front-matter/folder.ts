import { accessSync, constants, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { orElseUnlessDiskFault } from '../base/attempt.ts';
import { isInGrace } from '../base/grace.ts';
import { isRecordName } from '../base/names.ts';
import { statsAt } from '../fs/plain-path.ts';
import { type ReadAgain, type ReadEntry, readEntry } from './entry.ts';
import { LINKED_FOLDER, NO_FOLDER, type Problem, toProblem } from './problem.ts';

/** The record files of a folder, by name, and the problem of the folder itself. */
export interface RecordFolder<T> {
  entries: Map<string, ReadEntry<T>>;
  /** The names of all entries. */
  names: readonly string[];
  fault: Problem | undefined;
}

/**
 * Reads the record files of a folder. A file that has just vanished stays for the grace period, with `gone_at`. All files
 * stay while the folder cannot be read.
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

/** The names in a folder of the workspace; empty if it does not exist. A link is refused. */
export const listFolder = (dir: string): { names: string[]; fault: Problem | undefined } => {
  try {
    // Most folders of most Work items do not exist, and a thrown error for each would be costly.
    const fault = notAFolder(statsAt(dir));
    return { names: fault === undefined ? readdirSync(dir) : [], fault: fault ?? undefined };
  } catch (error) {
    return { names: [], fault: toProblem(error) };
  }
};

// Null if nothing is there.
const notAFolder = (stats: Stats | undefined): Problem | null | undefined => {
  if (stats === undefined) return null;
  if (stats.isDirectory()) return undefined;
  return stats.isSymbolicLink() ? LINKED_FOLDER : NO_FOLDER;
};

/** The problem of a folder, without reading it; undefined also if it does not exist. */
export const folderFault = (dir: string): Problem | undefined => {
  try {
    const fault = notAFolder(statsAt(dir));
    if (fault === undefined) accessSync(dir, constants.R_OK | constants.X_OK);
    return fault ?? undefined;
  } catch (error) {
    return toProblem(error);
  }
};

/** The names in a folder; empty if there is none. Throws where it cannot be read. */
export const namesIn = (dir: string): string[] =>
  notAFolder(statsAt(dir)) === undefined ? readdirSync(dir) : [];

/** The names in a folder; empty if it cannot be read, except for disk faults, which are thrown. */
export const listDirectory = (dir: string): string[] =>
  orElseUnlessDiskFault(() => namesIn(dir), []);

/** The names of the record files of a folder, sorted; empty if it does not exist. */
export const recordNames = (dir: string): string[] =>
  listDirectory(dir).filter(isRecordName).toSorted();
