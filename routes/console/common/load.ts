import { Problem } from '../../../lib/client/client.ts';
import type { Api, At, Fault, Known, Missing, Page, Told } from './page.ts';
import { toldOf } from './send-form.ts';

/** What a page shows now, or why it cannot; and what is wrong with the files it is about, where that may be another. */
interface Loaded {
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

/** What a call answers, or why it was refused: for a page that has more to show. */
export const orTold = async <T>(
  call: Promise<T>,
): Promise<{ value: T; told?: undefined } | { value?: undefined; told: Told }> => {
  try {
    return { value: await call };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { told: toldOf(error) };
  }
};

/** Why a page cannot be shown as it is now, and what to do next. */
const missingOf = async (api: Api, error: Problem, { params }: At): Promise<Missing> => {
  const told = toldOf(error);
  if (error.code === 'unreadable_record') return { ...told, ...UNREADABLE, detail: told.detail };
  if (error.status !== 404 && error.status !== 400) return told;
  const { id, sid } = params;
  if (id === undefined) return told;
  const item = await orNone(api.call('GET /cases/{id}', { id }));
  if (item === undefined || sid === undefined) return { ...told, ...NO_ITEM };
  const faults = (await orNone(api.call('GET /api/diagnostics'))) ?? [];
  const record = `-${sid.slice(0, 8)}/session.md`;
  const fault = faults.find(({ file }) => file.startsWith(item.path) && file.endsWith(record));
  if (fault === undefined) return { ...told, ...NO_SESSION, on: ofItem(id) };
  const { file, line, message } = fault;
  const detail = `${line === undefined ? file : `${file}:${line}`}: ${message}.`;
  return { ...told, ...UNREADABLE, detail };
};

const orNone = <T>(call: Promise<T>): Promise<T | undefined> => call.catch(() => undefined);

const UNREADABLE = {
  title: 'A file of it cannot be read',
  next: 'Mend the file in an editor: this page goes on by itself once it can be read.',
  on: { href: '/dashboard/settings/diagnostics', name: 'All files to mend' },
};

const ofItem = (id: string) => ({ href: `/dashboard/cases/${id}`, name: 'Its Work item' });

const NO_SESSION = {
  title: 'This session is not here any more',
  detail: 'Its directory was removed or renamed, by hand or by git.',
  next: 'What it did to files is still in the worktree. Put the directory back, and this page goes on by itself.',
};

const NO_ITEM = {
  title: 'This Work item is not here any more',
  detail: 'It was deleted, or its directory was removed or moved out of the workspace.',
  next: 'Nothing that is sent from here is done. Put its directory back, and this page goes on by itself.',
  on: { href: '/dashboard/board', name: 'All Work items' },
};
