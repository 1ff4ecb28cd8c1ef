import { isDiskFault, messageOf } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';

export interface TextPosition {
  line: number;
  column: number;
}

/** Why a file cannot be read as a record. Thrown while reading and kept in the index; it never ends the daemon. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: string;
  readonly place: TextPosition | undefined;
  /** Further problems of the same file. */
  others: readonly Problem[] = [];

  constructor(code: string, message: string, place?: TextPosition) {
    super(message);
    this.code = code;
    this.place = place;
  }
}

/** Several problems of one file as one: the first, with the others attached. There must be at least one. */
export const together = ([first, ...others]: readonly Problem[]): Problem => {
  const problem = first as Problem;
  problem.others = others.slice(0, MOST);
  return problem;
};

const MOST = 50;

/** The result of `read`, or `otherwise` if the file is not a valid record, which is reported elsewhere. */
export const ifReadable = <T, F>(read: () => T, otherwise: F): T | F => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Problem || error instanceof StoreError) return otherwise;
    throw error;
  }
};

/** Converts any error of reading a file to a Problem. */
export const toProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM')
    return new Problem(
      'no_permission',
      "The daemon's user has no permission to read this. Grant it",
    );
  const problem = new Problem('unreadable', messageOf(error));
  problem.cause = error;
  return problem;
};

/** The disk fault behind a problem, if any: then nothing is wrong with the file itself. */
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

/** The problem of a hand-made file that could not be completed. */
export const notAdopted = (error: unknown): Problem => new Problem('not_adopted', messageOf(error));

/** A Problem as reported, with the file relative to the workspace. */
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

/** All problems of a file, for one Problem with others attached. */
export const fileProblems = (file: string, problem: Problem): FileProblem[] =>
  [problem, ...problem.others].map((each) => fileProblem(file, each));
