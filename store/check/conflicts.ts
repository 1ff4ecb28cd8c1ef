import { join } from 'node:path';
import { listFolder } from '../disk/folder.ts';
import { problemOf } from '../items/item-files.ts';
import type { Layout } from '../layout.ts';
import { isRecordName } from '../names.ts';
import { parseConflict } from '../read-conflicts.ts';
import { readEntry } from '../text/entry.ts';
import { error, errorAt, type Finding } from './finding.ts';

/** The records of a Work item's rebases. */
export const checkConflicts = ({ root }: Layout, dir: string): Finding[] => {
  const folder = `${dir}/conflicts`;
  const { names, fault } = listFolder(join(root, folder));
  if (fault !== undefined) return errorAt(folder, fault);
  return names.filter(isRecordName).flatMap((name) => {
    const file = `${folder}/${name}`;
    const entry = readEntry(join(root, file), { before: undefined, parse: parseConflict });
    return problemOf(file, entry).map((problem) => error(problem));
  });
};
