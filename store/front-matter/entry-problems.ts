import type { ReadEntry } from './entry.ts';
import {
  type FileProblem,
  fileProblem,
  fileProblems,
  Problem,
  type TextPosition,
} from './problem.ts';

/** What is wrong with a file as it was last read. */
export const entryProblem = (file: string, entry: ReadEntry<unknown> | undefined): FileProblem[] =>
  entry?.problem === undefined ? [] : fileProblems(file, entry.problem);

/** What is wrong with the record files of a folder; of two with one id the second by name is not served. */
export const problemsOfFolder = (
  folder: string,
  entries: ReadonlyMap<string, ReadEntry<{ matter: { id: string } }>>,
): FileProblem[] => {
  if (entries.size === 0) return [];
  const first = new Map<string, string>();
  return [...entries].flatMap(([name, entry]) => {
    const file = `${folder}/${name}`;
    const id = entry.value?.matter.id ?? name;
    const other = first.get(id);
    if (entry.gone_at === undefined && other === undefined) first.set(id, name);
    if (entry.problem !== undefined || other === undefined) return entryProblem(file, entry);
    return [fileProblem(file, duplicateId(`${folder}/${other}`))];
  });
};

/** `place` is that of the id in the second one. */
export const duplicateId = (first: string, place?: TextPosition): Problem =>
  new Problem(
    'duplicate_id',
    `${first} has the same id. Remove the id line here to make this one of its own`,
    place,
  );
