import { relative } from 'node:path';
import { type FileProblem, fileProblem, Problem } from '../front-matter/problem.ts';
import type { Layout } from '../layout.ts';
import type { Journal, RolledBack } from './journal.ts';

/** The problems of the journal: one for all damaged lines, and one if it is older than the events already sent. */
export const problemsOfJournal = (
  layout: Layout,
  { damaged, rolledBack }: Pick<Journal, 'damaged' | 'rolledBack'>,
): FileProblem[] => [
  ...problemsOfLines(layout, damaged),
  ...(rolledBack === undefined ? [] : [problemOfRollback(layout, rolledBack)]),
];

/** The problem of a journal that is older than the events already sent. */
export const problemOfRollback = ({ root, journal }: Layout, found: RolledBack): FileProblem => {
  const { last, told } = found;
  const message = `The journal ends at event ${last}, but event ${told} was sent: it was cut, removed, or restored from a backup. ${NEW_JOURNAL}`;
  return fileProblem(relative(root, journal), new Problem('journal_rolled_back', message));
};

const NEW_JOURNAL =
  'A new journal starts from the files as they are now, without events; event numbers continue after the last one sent. Missing events that were not delivered are lost. Programs that follow events must read everything again';

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
  'All other lines were read. The Work items of the damaged lines were compared again, which may have sent a change twice; events in them that were not delivered are lost. Check the disk';
