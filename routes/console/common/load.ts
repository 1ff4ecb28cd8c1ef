import { type FileProblem, Problem } from '../../../lib/client/client.ts';
import { placeIn } from '../parts/labels.ts';
import type { Api, At, Missing, Page, Previous, ProblemSummary } from './page.ts';
import { problemSummary } from './send-form.ts';

/**
 * The data of a page, or why it cannot be loaded; with the problems of its files, unless they are known to be the
 * same.
 */
interface Loaded {
  shown?: object;
  missing?: Missing;
  fileProblems?: FileProblem[] | undefined;
}

/** Loads a page. Throws only errors that are no response of the API. */
export const loadPage = async (
  page: Page,
  api: Api,
  at: At,
  known?: Previous<object>,
): Promise<Loaded> => {
  try {
    const shown = await page.load(api, at, known);
    const isSame = known?.since.every(({ event_type }) => !event_type.startsWith('problem_'));
    return {
      shown,
      fileProblems: isSame === true ? undefined : await loadFileProblems(api, shown),
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { missing: await explainMissing(api, error, at) };
  }
};

const MOST = 20;

/** A page about a Work item, or about the settings. */
interface OfFiles {
  item?: { path?: string };
  settings?: object;
}

const loadFileProblems = async (
  { call }: Api,
  { item, settings }: OfFiles,
): Promise<FileProblem[]> => {
  const path = item?.path ?? (settings && 'workspace.md');
  if (path === undefined) return [];
  const problems = await call('GET /api/diagnostics', { query: { path } }).catch(() => []);
  return problems.slice(0, MOST);
};

/** The result of a call, or the problem it was refused with: for pages that show the rest all the same. */
export const orProblem = async <T>(
  call: Promise<T>,
): Promise<{ value: T; problem?: undefined } | { value?: undefined; problem: ProblemSummary }> => {
  try {
    return { value: await call };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { problem: problemSummary(error) };
  }
};

/** Explains why a page cannot be loaded, and what to do. */
const explainMissing = async (api: Api, error: Problem, { params }: At): Promise<Missing> => {
  const problem = problemSummary(error);
  if (error.code === 'unreadable_record')
    return { ...problem, ...UNREADABLE, detail: problem.detail };
  if (error.status !== 404 && error.status !== 400) return problem;
  const { id, sid } = params;
  if (id === undefined) return problem;
  const item = await orNone(api.call('GET /cases/{id}', { id }));
  if (item === undefined || sid === undefined) return { ...problem, ...NO_ITEM };
  const fileProblems = await orNone(
    api.call('GET /api/diagnostics', { query: { path: item.path } }),
  );
  const record = `-${sid.slice(0, 8)}/session.md`;
  const fault = fileProblems?.find(({ file }) => file.endsWith(record));
  if (fault === undefined) return { ...problem, ...NO_SESSION, on: ofItem(id) };
  const detail = `${placeIn(fault.file, fault.line)}: ${fault.message}.`;
  return { ...problem, ...UNREADABLE, detail };
};

/** The result of a call; undefined if it was refused. */
export const orNone = async <T>(call: Promise<T>): Promise<T | undefined> =>
  (await orProblem(call)).value;

const UNREADABLE = {
  title: 'A file cannot be read',
  next: 'Fix the file in an editor. This page updates once the file can be read.',
  on: { href: '/dashboard/settings/diagnostics', name: 'All file problems' },
};

const ofItem = (id: string) => ({ href: `/dashboard/cases/${id}`, name: 'Work item' });

const NO_SESSION = {
  title: 'The session does not exist',
  detail: 'Its directory was deleted or renamed.',
  next: 'Its changes are still in the worktree. Restore the directory to show the session again.',
};

const NO_ITEM = {
  title: 'The Work item does not exist',
  detail: 'It was deleted, or its directory was moved out of the workspace.',
  next: 'Forms on this page have no effect. Restore the directory to show the Work item again.',
  on: { href: '/dashboard/board', name: 'All Work items' },
};
