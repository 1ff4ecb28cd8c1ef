import { importProblems } from '../../../store/codehost/imports.ts';
import type { FileProblem } from '../../../store/front-matter/problem.ts';
import { lookCloser } from '../../../store/problems/sidecar-problems.ts';
import { readSnapshots } from '../../../store/worktrees/snapshots.ts';
import type { Service } from '../../service.ts';
import { tellAdvice } from './settings-advice.ts';

/**
 * Every file of the workspace that cannot be used as what it should be, with line and column where they are known. Free
 * texts (memory, plans) are not read for it: `dossier check` does.
 */
export const listProblems = async (service: Service): Promise<FileProblem[]> => {
  const { store } = service;
  await tellAdvice(service);
  await lookCloser(store);
  return [
    ...store.problems.all(),
    ...readSnapshots(store).problems,
    ...importProblems(store.layout),
  ];
};
