import { shorten } from '../../../base/shorten.ts';
import type { BacklogFile, BacklogProject } from '../../../store/archive/backlog-files.ts';
import { idOfText } from '../../../store/names.ts';
import type { CaseMatter } from '../../../store/records/case.ts';

/** A task as the Work item that it becomes. */
export interface BacklogCase {
  matter: CaseMatter;
  /** What a Work item has no place for, under one key of its own: the whole front matter of the task among it. */
  backlog: Record<string, unknown>;
  description: string;
  /** When it was last changed, as the task says. */
  mtime: Date;
}

/** The tasks of a project with the ids of their Work items: the same task has the same id every time. */
export const withIds = ({ name, tasks }: BacklogProject): Map<string, BacklogFile> => {
  const known = new Map<string, BacklogFile>();
  for (const task of tasks) {
    const id = workItemId(name, String(task.data.id ?? task.file));
    // Backlog.md gives the ids of archived tasks again.
    known.set(known.has(id) ? workItemId(name, task.file) : id, task);
  }
  return known;
};

const workItemId = (project: string, id: string): string =>
  idOfText(`backlog.md\n${project}\n${keyOf(id)}`);

// A project can change its prefix, and whether it pads the numbers; a draft is no task of the same number.
const keyOf = (id: string): string => {
  const [, prefix = '', numbers = ''] = /^([a-z]\w*)-(\d+(?:\.\d+)*)$/i.exec(id.trim()) ?? [];
  if (numbers === '') return id;
  const number = numbers.replace(/(?<=^|\.)0+(?=\d)/g, '');
  return prefix.toLowerCase() === 'draft' ? `draft-${number}` : number;
};

/** What becomes of a task. Nothing of it is lost, and nothing of it looks planned or approved. */
export const caseOfTask = (
  project: BacklogProject,
  id: string,
  task: BacklogFile,
  known: ReadonlyMap<string, unknown>,
): BacklogCase => {
  const { data, file, mtime } = task;
  const whole = titleOf(task);
  const title = whole.length <= MAX_TITLE ? whole : shorten(whole, MAX_TITLE - 1, '…');
  const created = timeOf(data.created_date) ?? timeOf(data.updated_date) ?? mtime;
  const references = referencesOf(project.name, data, known);
  return {
    matter: {
      id,
      title,
      type: typeOf(data),
      ...stateOf(project, task),
      created_at: created.toISOString(),
    },
    backlog: {
      project: project.name,
      file,
      source_sha256: task.sha256,
      ...(references !== undefined && { work_items: references }),
      task: data,
    },
    description: title === whole ? task.body : `Title: ${whole}\n\n${task.body}`,
    mtime: timeOf(data.updated_date) ?? created,
  };
};

const MAX_TITLE = 200;
// What breaks a line, or is none of a text's characters.
const BREAKS = /[\p{Cc}\s\u2028\u2029]+/gu;

const titleOf = ({ data, file }: BacklogFile): string => {
  const title = String(data.title ?? '')
    .replace(BREAKS, ' ')
    .trim();
  return title === '' ? (file.split('/').at(-1) ?? file).replace(/\.md$/, '') : title;
};

const WORD = /^[a-z][a-z0-9_-]{0,63}$/;

const typeOf = ({ type, labels }: Record<string, unknown>): string => {
  const own = String(type ?? '')
    .trim()
    .toLowerCase();
  const words = [own, ...listOf(labels).map((label) => label.toLowerCase())];
  if (words.includes('bug')) return 'bug';
  if (own !== '' && own !== 'enhancement' && WORD.test(own)) return own;
  return words.some((word) => ['feature', 'enhancement'].includes(word)) ? 'feature' : 'task';
};

const listOf = (value: unknown): string[] => {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(String);
};

type Closing = Pick<CaseMatter, 'state' | 'outcome'>;
const OPEN: Closing = { state: 'OPEN', outcome: null };
const RESOLVED: Closing = { state: 'RESOLVED', outcome: 'resolved' };
const NON_ISSUE: Closing = { state: 'NON_ISSUE', outcome: 'non_issue' };

const GIVEN_UP = /^(?:won.?t|cancel|reject|abandon|invalid|duplicate|obsolete)/i;

// A task that somebody works on is open here: no plan of it was made, and none was approved.
const stateOf = ({ statuses }: BacklogProject, { data, folder }: BacklogFile): Closing => {
  const status = String(data.status ?? '').trim();
  if (GIVEN_UP.test(status)) return NON_ISSUE;
  if (isDone(status, statuses) || folder === 'completed') return RESOLVED;
  return folder.startsWith('archive/') ? NON_ISSUE : OPEN;
};

const isDone = (status: string, statuses: string[]): boolean =>
  [statuses.at(-1) ?? 'done', 'done'].some(
    (done) => done.trim().toLowerCase() === status.toLowerCase(),
  );

/** The Work items that those tasks became which a task names. */
const referencesOf = (
  project: string,
  { dependencies, parent_task_id, subtasks }: Record<string, unknown>,
  known: ReadonlyMap<string, unknown>,
): Record<string, string> | undefined => {
  const named = [dependencies, parent_task_id, subtasks].flatMap(listOf);
  const found = named
    .map((name) => [name, workItemId(project, name)] as const)
    .filter(([, id]) => known.has(id));
  return found.length === 0 ? undefined : Object.fromEntries(found);
};

const DATE =
  /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?) ?(Z|[+-]\d{2}:\d{2})?)?$/;
const OLD_DATE = /^(\d{2})[-/.](\d{2})[-/.](\d{2})$/;

/** A time of Backlog.md; one that names no zone is UTC. Undefined for what is none. */
const timeOf = (value: unknown): Date | undefined => {
  const text = String(value ?? '').trim();
  const [, day = '', month, year] = OLD_DATE.exec(text) ?? [];
  const [, date = '', clock = '00:00', zone = 'Z'] =
    DATE.exec(day === '' ? text : `20${year}-${month}-${day}`) ?? [];
  const time = new Date(`${date}T${clock}${zone}`);
  return Number.isNaN(time.getTime()) ? undefined : time;
};
