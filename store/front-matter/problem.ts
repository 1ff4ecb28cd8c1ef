import { isDiskFault, messageOf } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';

export interface TextPosition {
  line: number;
  column: number;
}

/** Why a file cannot be read as the record it should be. Thrown while reading, kept in the index, never a crash. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: string;
  readonly place: TextPosition | undefined;
  /** What else is wrong with the same file. */
  others: readonly Problem[] = [];

  constructor(code: string, message: string, place?: TextPosition) {
    super(message);
    this.code = code;
    this.place = place;
  }
}

/** Several problems of one file as one: the first of them, which knows the others. There is at least one. */
export const together = ([first, ...others]: readonly Problem[]): Problem => {
  const problem = first as Problem;
  problem.others = others.slice(0, MOST);
  return problem;
};

const MOST = 50;

/** What `read` answers; `otherwise` where what stands there cannot be read as what it should be: that is told elsewhere. */
export const ifReadable = <T, F>(read: () => T, otherwise: F): T | F => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Problem || error instanceof StoreError) return otherwise;
    throw error;
  }
};

/** Whatever kept a file from being read, as a Problem. */
export const asProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM')
    return new Problem('no_permission', "The daemon's user may not read this. Give it leave to");
  const problem = new Problem('unreadable', messageOf(error));
  problem.cause = error;
  return problem;
};

/** The error of the disk that kept a file from being read: nothing is wrong with the file, and nothing to mend. */
export const faultOf = (problem: Problem | undefined): Error | undefined =>
  isDiskFault(problem?.cause) ? problem.cause : undefined;

export const LINKED_FOLDER = new Problem(
  'symbolic_link',
  'Symbolic links are not followed. Put the directory itself here',
);

export const NO_FOLDER = new Problem(
  'not_a_directory',
  'There is a file where a directory should be. Remove it',
);

/** A file made by hand could not be given what it lacks. */
export const notAdopted = (error: unknown): Problem => new Problem('not_adopted', messageOf(error));

/** A Problem as it is told: with the file, relative to the workspace. */
export interface FileProblem {
  file: string;
  code: string;
  message: string;
  line?: number;
  column?: number;
}

export const fileProblem = (file: string, { code, message, place }: Problem): FileProblem => ({
  file,
  code,
  message,
  ...place,
});

/** The same with all that is wrong besides. */
export const fileProblems = (file: string, problem: Problem): FileProblem[] =>
  [problem, ...problem.others].map((each) => fileProblem(file, each));
