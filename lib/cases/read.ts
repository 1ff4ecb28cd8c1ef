import { listCases as keptCases, serveCase } from '../../store/cases.ts';
import { answerOf, plainState } from '../../store/items/item.ts';
import type { StateName } from '../../store/records/case.ts';
import { notFound } from '../errors.ts';
import type { Service } from '../service.ts';

export interface Ready {
  body: Buffer;
  etag: string;
}

/** A Work item as ready JSON: what its case.md says this moment. */
export const getCase = async ({ store }: Service, id: string): Promise<Ready> => {
  const served = await serveCase(store, id);
  if (served === undefined) throw notFound('Work item', id);
  return served;
};

export interface CaseQuery {
  state?: StateName;
  outcome?: string;
}

export interface Listed {
  id: string;
  json: () => Buffer;
}

/** Work items that match, oldest first, each with its JSON when that is asked for. */
export const listCases = ({ store }: Service, { state, outcome }: CaseQuery): Listed[] =>
  keptCases(store, {
    ...(state !== undefined && { state: plainState(state) }),
    ...(outcome !== undefined && { outcome }),
  }).map((item) => ({ id: item.id, json: () => answerOf(item).body }));

/** Grows with every change of any Work item: an answer made at the same version is still right. */
export const versionOf = ({ store }: Service): number => store.items.version;
