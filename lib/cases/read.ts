import { listCases as keptCases, serveCase } from '../../store/cases.ts';
import { answerOf, plainState } from '../../store/item.ts';
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

interface Listed {
  id: string;
  /** Its JSON. */
  json: Buffer;
}

/** Work items, oldest first, each as ready JSON. */
export const listCases = ({ store }: Service, { state, outcome }: CaseQuery): Listed[] =>
  keptCases(store, {
    ...(state !== undefined && { state: plainState(state) }),
    ...(outcome !== undefined && { outcome }),
  }).map((item) => ({
    id: item.id,
    json: answerOf(item).body,
  }));
