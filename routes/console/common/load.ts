import { Problem } from '../../../lib/client/client.ts';
import { missingOf } from './missing.ts';
import type { Api, At, Fault, Known, Missing, Page } from './page.ts';

/** What a page shows now, or why it cannot; and what is wrong with the files it is about, where that may be another. */
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

/** A page of a Work item, or of the settings. */
interface OfFiles {
  item?: { path?: string };
  settings?: object;
}

const faultsIn = async ({ call }: Api, { item, settings }: OfFiles): Promise<Fault[]> => {
  const place = item?.path === undefined ? settings && 'workspace.md' : `${item.path}/`;
  if (place === undefined) return [];
  const problems = await call('GET /api/diagnostics').catch(() => []);
  return problems.filter(({ file }) => file.startsWith(place)).slice(0, MOST);
};
