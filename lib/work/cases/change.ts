import { type CaseRule, updateCase } from '../../../store/cases.ts';
import type { Case, StateName } from '../../../store/records/case.ts';
import type { Store } from '../../../store/store.ts';
import { notFound } from '../../errors.ts';
import { moveTo } from './moves.ts';
import { checkTexts } from './text.ts';

/** Changes title, type or description. Its directory keeps its name. Keys that the caller does not name keep what stands in the file. */
export const changeCase = async (
  store: Store,
  id: string,
  change: { title?: string; type?: string; description?: string },
  ifMatch?: string,
): Promise<Case> => {
  const { title, description } = change;
  checkTexts({ title, description });
  return update(store, id, () => change, ifMatch);
};

/** The compatibility path: any state, past sessions and the proof gate. */
export const setState = (
  store: Store,
  id: string,
  { state, outcome }: { state: StateName; outcome?: string },
  ifMatch?: string,
): Promise<Case> => update(store, id, (current) => moveTo(current, state, outcome), ifMatch);

/** For the rules of other areas: runs one in the Work item's turn, or answers that it is gone. */
export const update = async (
  store: Store,
  id: string,
  rule: CaseRule,
  ifMatch?: string,
): Promise<Case> => {
  const item = await updateCase(store, id, rule, ifMatch);
  if (item === undefined) throw notFound('Work item', id);
  return item;
};
