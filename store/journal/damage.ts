import { relative } from 'node:path';
import type { Layout } from '../layout.ts';
import { type FileProblem, fileProblem, Problem } from '../text/problem.ts';
import type { Journal } from './journal.ts';

/** What of the journal could not be read when the workspace was opened: one problem for all of it. */
export const problemsOfJournal = (
  { root, journal }: Layout,
  { damaged }: Pick<Journal, 'damaged'>,
): FileProblem[] => {
  const [first] = damaged;
  if (first === undefined) return [];
  const which = damaged.length === 1 ? 'A line is' : `${damaged.length} lines are`;
  const problem = new Problem('journal_damaged', `${which} damaged. ${LEFT_OUT}`, {
    line: first.line,
    column: 1,
  });
  return [fileProblem(`${relative(root, journal)}/${first.file}`, problem)];
};

const LEFT_OUT =
  'All others were read. What those lines said of a Work item was compared anew, which may have told a change twice; events that were not delivered yet are lost. Look after the disk';
