import { globalProblems } from '../../store/globals.ts';
import { allProblems } from '../../store/items.ts';
import type { FileProblem } from '../../store/problem.ts';
import { listSnapshots } from '../../store/snapshots.ts';
import type { Service } from '../service.ts';

/** Every file of the workspace that cannot be used as what it should be, with line and column where they are known. */
export const listProblems = ({ store }: Service): FileProblem[] => [
  ...globalProblems(store.globals),
  ...listSnapshots(store).problems,
  ...allProblems(store.items),
];
