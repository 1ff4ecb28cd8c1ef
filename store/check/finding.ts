import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMarkdownName } from '../base/names.ts';
import { type ReadEntry, refuseOther } from '../front-matter/entry.ts';
import { listFolder } from '../front-matter/folder.ts';
import { type FileProblem, fileProblems, Problem, toProblem } from '../front-matter/problem.ts';
import { decodeText } from '../front-matter/text.ts';
import { statsAt } from '../fs/plain-path.ts';

/**
 * Fixes a finding without losing data. Returns what was done, to print after the file name; undefined if the file changed
 * meanwhile.
 */
export type Mend = () => Promise<string | undefined>;

/** `error`: Dossier cannot use the file. `warning`: it can, but the operator should know. */
export interface Finding extends FileProblem {
  severity: 'error' | 'warning';
  mend?: Mend | undefined;
}

const finding =
  (severity: Finding['severity']) =>
  (problem: FileProblem, mend?: Mend): Finding => ({
    ...problem,
    severity,
    ...(mend && { mend }),
  });

export const error = finding('error');
export const warning = finding('warning');

export const errors = (problems: readonly FileProblem[]): Finding[] =>
  problems.map((problem) => error(problem));

export const errorAt = (file: string, problem: Problem | undefined): Finding[] =>
  problem === undefined ? [] : errors(fileProblems(file, problem));

/** The errors of a file that was read. */
export const entryErrors = (
  file: string,
  entry: Pick<ReadEntry<unknown>, 'problem'> | undefined,
): Finding[] => errorAt(file, entry?.problem);

const MAX_BYTES = 2_097_152;

/** The errors of the free texts of a folder (memory, snapshots), which have no schema. */
export const textFindings = (root: string, folder: string): Finding[] => {
  const { names, fault } = listFolder(join(root, folder));
  if (fault !== undefined) return errorAt(folder, fault);
  return names.filter(isMarkdownName).flatMap((name) => checkText(root, `${folder}/${name}`));
};

/** The errors of one text, which need not exist. */
export const checkText = (root: string, file: string): Finding[] =>
  errorAt(
    file,
    faultOf(join(root, file), (path) => decodeText(readFileSync(path))),
  );

/** Checks only that this is a regular file, if it exists. */
export const checkPlain = (root: string, file: string): Finding[] =>
  errorAt(file, faultOf(join(root, file)));

const faultOf = (path: string, read?: (path: string) => unknown): Problem | undefined => {
  try {
    const stats = statsAt(path);
    if (stats === undefined) return undefined;
    refuseOther(stats);
    if (read !== undefined && stats.size > MAX_BYTES)
      throw new Problem('too_large', `The file has ${stats.size} bytes. Shorten it to 1 MB`);
    read?.(path);
    return undefined;
  } catch (error) {
    return toProblem(error);
  }
};
