import { readCase } from '../../../store/cases.ts';
import type { Case } from '../../../store/records/case.ts';
import { notFound } from '../../errors.ts';
import type { Service } from '../../service.ts';

/** The Work item as it is on disk this moment. 404 when there is none. */
export const itemOf = async ({ store }: Service, caseId: string): Promise<Case> => {
  const item = await readCase(store, caseId);
  if (item === undefined) throw notFound('Work item', caseId);
  return item;
};
