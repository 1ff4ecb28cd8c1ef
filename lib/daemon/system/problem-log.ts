import type { FileProblem } from '../../../store/front-matter/problem.ts';
import type { Store } from '../../../store/store.ts';
import type { Log } from '../../log.ts';

/** Logs each file that cannot be used, once, with its place and what to do; and once that it is mended. */
export const logProblems = ({ problems }: Pick<Store, 'problems'>, log: Log): void =>
  problems.listen((news, problem) => {
    const { file, code } = problem;
    if (news === 'mended') log.info({ file, code }, `${file} is mended`);
    else log.warn({ ...problem }, `${positionText(problem)}: ${problem.message}`);
  });

/** `file:line:column`, as far as it is known. */
export const positionText = ({ file, line, column }: FileProblem): string =>
  [file, line, column].filter((part) => part !== undefined).join(':');
