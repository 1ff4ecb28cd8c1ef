import { type FileProblem, fileProblems, type Problem } from '../text/problem.ts';

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

export const error = (problem: FileProblem, mend?: Mend): Finding => ({
  ...problem,
  severity: 'error',
  ...(mend && { mend }),
});

export const warning = (problem: FileProblem, mend?: Mend): Finding => ({
  ...problem,
  severity: 'warning',
  ...(mend && { mend }),
});

export const errorAt = (file: string, problem: Problem | undefined): Finding[] =>
  problem === undefined ? [] : fileProblems(file, problem).map((each) => error(each));
