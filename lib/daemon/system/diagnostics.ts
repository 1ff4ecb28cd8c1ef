import { lookCloser } from '../../../store/beside/look-closer.ts';
import { importProblems } from '../../../store/links/imports.ts';
import { readSnapshots } from '../../../store/snapshots.ts';
import type { FileProblem } from '../../../store/text/problem.ts';
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
