import { relative } from 'node:path';
import { type FileProblem, fileProblem, Problem } from '../front-matter/problem.ts';
import type { Layout } from '../layout.ts';
import type { Journal, RolledBack } from './journal.ts';

/** What of the journal could not be read when the workspace was opened, one problem for all of it; and what it lacks. */
export const problemsOfJournal = (
  layout: Layout,
  { damaged, rolledBack }: Pick<Journal, 'damaged' | 'rolledBack'>,
): FileProblem[] => [
  ...problemsOfLines(layout, damaged),
  ...(rolledBack === undefined ? [] : [problemOfRollback(layout, rolledBack)]),
];

/** The journal is older than what was told of it. */
export const problemOfRollback = ({ root, journal }: Layout, found: RolledBack): FileProblem => {
  const { last, told } = found;
  const message = `The journal ends at event ${last}, but event ${told} was told: it was cut, removed, or restored from a backup. ${BEGUN_ANEW}`;
  return fileProblem(relative(root, journal), new Problem('journal_rolled_back', message));
};

const BEGUN_ANEW =
  'A new journal begins: the files count as they are now, without events, and numbers go on behind those that were told. Events that were not delivered and are missing here are lost. Programs that follow events: read everything again';

const problemsOfLines = ({ root, journal }: Layout, damaged: Journal['damaged']): FileProblem[] => {
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
