import { Problem } from '../../../lib/client/client.ts';
import { missingOf } from './missing.ts';
import type { Api, At, Fault, Known, Missing, Page } from './page.ts';

/** What a page shows now, or why it cannot; and what is wrong with files of its Work item, where that may be another. */
export interface Loaded {
  shown?: object;
  missing?: Missing;
  faults?: Fault[] | undefined;
}

/** Loads a page. Throws only what nobody on it can do anything about. */
export const loadNow = async (
  page: Page,
  api: Api,
  at: At,
  known?: Known<object>,
): Promise<Loaded> => {
  try {
    const shown = await page.load(api, at, known);
    const isSame = known?.since.every(({ event_type }) => !event_type.startsWith('problem_'));
    return { shown, faults: isSame === true ? undefined : await faultsIn(api, shown) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { missing: await missingOf(api, error, at) };
  }
};

const MOST = 20;

const faultsIn = async ({ call }: Api, shown: { item?: { path?: string } }): Promise<Fault[]> => {
  const path = shown.item?.path;
  if (path === undefined) return [];
  const problems = await call('GET /api/diagnostics').catch(() => []);
  return problems.filter(({ file }) => file.startsWith(`${path}/`)).slice(0, MOST);
};
