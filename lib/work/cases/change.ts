import { type CaseRule, updateCase } from '../../../store/cases.ts';
import type { Case, StateName } from '../../../store/records/case.ts';
import type { Store } from '../../../store/store.ts';
import { orNotFound } from '../../errors.ts';
import { moveTo } from './moves.ts';
import type { Ready } from './read.ts';
import { checkTexts } from './text.ts';

/** Changes title, type or description. Its directory keeps its name. Keys that the caller does not name keep what stands in the file. */
export const changeCase = async (
  store: Store,
  id: string,
  change: { title?: string; type?: string; description?: string },
  ifMatch?: string,
): Promise<Ready> => {
  const { title, description } = change;
  checkTexts({ title, description });
  return serve(store, id, () => change, ifMatch);
};

/** The compatibility path: any state, past sessions and the proof gate. */
export const setState = (
  store: Store,
  id: string,
  { state, outcome }: { state: StateName; outcome?: string },
  ifMatch?: string,
): Promise<Ready> => serve(store, id, (current) => moveTo(current, state, outcome), ifMatch);

// What was written is answered as it was read back in the same turn: nobody reads it once more.
const serve = async (store: Store, id: string, rule: CaseRule, ifMatch?: string): Promise<Ready> =>
  orNotFound((await updateCase(store, id, rule, ifMatch))?.served, 'Work item', id);

/** For the rules of other areas: runs one in the Work item's turn, or answers that it is gone. */
export const update = async (store: Store, id: string, rule: CaseRule): Promise<Case> => {
  const changed = orNotFound(await updateCase(store, id, rule), 'Work item', id);
  return changed.record;
};
