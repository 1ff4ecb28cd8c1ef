import { readCase } from '../../../store/cases/cases.ts';
import type { Case } from '../../../store/records/case.ts';
import type { Store } from '../../../store/store.ts';
import { orNotFound } from '../../errors.ts';

/** The Work item as it is on disk this moment. 404 when there is none. */
export const getItem = async (store: Store, caseId: string): Promise<Case> => {
  return orNotFound(await readCase(store, caseId), 'Work item', caseId);
};
