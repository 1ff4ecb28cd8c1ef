import type { ReadEntry } from '../front-matter/entry.ts';
import { type FileProblem, fileProblems, type Problem } from '../front-matter/problem.ts';

/**
 * Mends what was found, and loses nothing by it. Answers what was done, in words that follow the file; undefined when
 * the file is another by now.
 */
export type Mend = () => Promise<string | undefined>;

/** `error`: Dossier cannot use it as what it should be. `warning`: it can, and somebody should know. */
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

/** What is wrong with a file as it was read. */
export const entryErrors = (
  file: string,
  entry: Pick<ReadEntry<unknown>, 'problem'> | undefined,
): Finding[] => errorAt(file, entry?.problem);
