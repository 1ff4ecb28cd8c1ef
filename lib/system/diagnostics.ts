import type { FileProblem } from '../../store/problem.ts';
import { listSnapshots } from '../../store/snapshots.ts';
import type { Service } from '../service.ts';

/** Every file of the workspace that cannot be used as what it should be, with line and column where they are known. */
export const listProblems = ({ store }: Service): FileProblem[] => [
  ...store.problems.all(),
  ...listSnapshots(store).problems,
];
